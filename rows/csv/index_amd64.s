#include "go_asm.h"
#include "textflag.h"

// What both functions have in registers: Y0, Y1, Y8 and Y9 a separator, a line feed, a quote and a carriage return 32 times; X7 ones
// everywhere; DX the block; DI the quotes; R14 not 0 if the block depends on the one before it; R15 quotes.before.

#define PREPARE(comma) \
	VPBROADCASTB comma, Y0 \
	MOVL         $10, AX   \
	VMOVD        AX, X1    \
	VPBROADCASTB X1, Y1    \
	MOVL         $34, AX   \
	VMOVD        AX, X8    \
	VPBROADCASTB X8, Y8    \
	MOVL         $13, AX   \
	VMOVD        AX, X9    \
	VPBROADCASTB X9, Y9    \
	VPCMPEQB     X7, X7, X7 \
	MOVQ         quotes_inside(DI), R14 \
	ORQ          quotes_closed(DI), R14 \
	ORQ          quotes_returned(DI), R14 \
	MOVQ         quotes_before(DI), R15

// A bit in mask for each byte of the block, which is in Y2 and Y3, that equals those of y.
#define EQUAL(y, mask, scratch) \
	VPCMPEQB  y, Y2, Y4         \
	VPCMPEQB  y, Y3, Y5         \
	VPMOVMSKB Y4, mask          \
	VPMOVMSKB Y5, scratch       \
	SHLQ      $32, scratch      \
	ORQ       scratch, mask

// Line feeds to AX, separators to BX, quotes to R11, and to R12 something that is not 0 if quotes have to be followed.
//
// The caller does more with a block than load it, so the machine's own prefetching begins too late at each window; a prefetch behind
// the end of the data does nothing.
#define LOAD \
	PREFETCHT0 1024(DX)     \
	VMOVDQU (DX), Y2        \
	VMOVDQU 32(DX), Y3      \
	EQUAL(Y1, AX, R12)      \
	EQUAL(Y0, BX, R12)      \
	EQUAL(Y8, R11, R12)     \
	MOVQ    R14, R12        \
	ORQ     R11, R12

// R15 for the next block where there is no quote in this one.
#define UNQUOTED \
	MOVQ AX, R15  \
	ORQ  BX, R15  \
	SHRQ $63, R15

// quotes.follow, as far as nearly all blocks need it. R12 is inside, R13 structure; then R14 is behind, and R11 what of it has none of
// structure; CARRIAGE is to be done if that is not 0 or the block before ended in a carriage return.
#define FOLLOW \
	VMOVQ      R11, X6               \
	VPCLMULQDQ $0, X7, X6, X6        \
	VMOVQ      X6, R12               \
	XORQ       quotes_inside(DI), R12 \
	MOVQ       AX, R13               \
	ORQ        BX, R13               \
	ORQ        R11, R13              \
	LEAQ       (R15)(R13*2), R14     \
	ANDNQ      R12, R14, R14         \
	ANDQ       R11, R14              \
	ORQ        R14, quotes_broken(DI) \
	ORQ        R11, quotes_seen(DI)  \
	ANDNQ      R11, R12, R11         \
	MOVQ       quotes_closed(DI), R14 \
	LEAQ       (R14)(R11*2), R14     \
	SHRQ       $63, R11              \
	MOVQ       R11, quotes_closed(DI) \
	MOVQ       R13, R15              \
	SHRQ       $63, R15              \
	ANDNQ      R14, R13, R11

// The carriage returns behind closing quotes, with AX put aside, as no register is free.
#define CARRIAGE \
	MOVQ  AX, quotes_aside(DI)     \
	EQUAL(Y9, AX, R13)             \
	ANDNQ R11, AX, R13             \
	ORQ   R13, quotes_broken(DI)   \
	ANDQ  AX, R11                  \
	MOVQ  quotes_returned(DI), R13 \
	LEAQ  (R13)(R11*2), R13        \
	SHRQ  $63, R11                 \
	MOVQ  R11, quotes_returned(DI) \
	MOVQ  quotes_aside(DI), AX     \
	ANDNQ R13, AX, R13             \
	ORQ   R13, quotes_broken(DI)

// Takes out of AX and BX what is inside.
#define OUTSIDE \
	ANDNQ AX, R12, AX             \
	ANDNQ BX, R12, BX             \
	SARQ  $63, R12                \
	MOVQ  R12, quotes_inside(DI)  \
	MOVQ  R12, R14                \
	ORQ   quotes_closed(DI), R14  \
	ORQ   quotes_returned(DI), R14

// One position: the lowest bit of AX, plus the block's offset R10, goes to the slot at k(R12); the bit is cleared.
#define POSITION(k) \
	TZCNTQ AX, BX      \
	ADDL   R10, BX     \
	MOVW   BX, k(R12)  \
	BLSRQ  AX, AX

// func indexAVX2(pos *uint16, lines *uint64, p *byte, blocks, offset int, comma byte, q *quotes) (n int)
//
// It does what indexPortable does, with 32 bytes per comparison and bit instructions that Go's baseline for amd64 lacks.
TEXT ·indexAVX2(SB), NOSPLIT, $0-64
	MOVQ pos+0(FP), R8
	MOVQ lines+8(FP), SI
	MOVQ p+16(FP), DX
	MOVQ blocks+24(FP), CX
	MOVQ offset+32(FP), R10 // of the block
	MOVQ q+48(FP), DI
	PREPARE(comma+40(FP))
	XORL R9, R9             // positions so far

block:
	LOAD
	JNZ quoted
	UNQUOTED

outside:
	MOVQ    AX, (SI)
	MOVQ    BX, AX
	POPCNTQ AX, R11
	LEAQ    (R8)(R9*2), R12
	ADDQ    R11, R9
	POSITION(0)
	POSITION(2)
	POSITION(4)
	POSITION(6)
	POSITION(8)
	POSITION(10)
	POSITION(12)
	POSITION(14)
	TESTQ   AX, AX
	JNZ     more

next:
	ADDQ $64, DX
	ADDQ $8, SI
	ADDL $64, R10
	DECQ CX
	JNZ  block
	VZEROUPPER
	MOVQ R15, quotes_before(DI)
	MOVQ R9, n+56(FP)
	RET

more:
	POSITION(16)
	ADDQ  $2, R12
	TESTQ AX, AX
	JNZ   more
	JMP   next

quoted:
	FOLLOW
	MOVQ quotes_returned(DI), R13
	ORQ  R11, R13
	JNZ  carriage

cut:
	OUTSIDE
	JMP outside

carriage:
	CARRIAGE
	JMP cut

// func endsAVX2(p *byte, blocks int, comma byte, q *quotes) (mask uint64, at int, lines uint64)
//
// It does what endsPortable does.
TEXT ·endsAVX2(SB), NOSPLIT, $8-56
	MOVQ p+0(FP), DX
	MOVQ blocks+8(FP), CX
	MOVQ q+24(FP), DI
	PREPARE(comma+16(FP))
	XORL SI, SI  // line feeds so far
	XORL R8, R8  // the results, at as an address
	MOVQ DX, R9
	XORL R10, R10

block:
	LOAD
	POPCNTQ   AX, R13
	MOVQ      R13, 0(SP)
	VPCMPEQB  Y9, Y2, Y4
	VPCMPEQB  Y9, Y3, Y5
	VPOR      Y4, Y5, Y6
	VPMOVMSKB Y6, R13
	TESTL     R13, R13
	JNZ       returns

returned:
	TESTQ R12, R12
	JNZ   quoted
	UNQUOTED

outside:
	TESTQ   AX, AX
	CMOVQNE AX, R8
	CMOVQNE DX, R9
	CMOVQNE SI, R10
	ADDQ    0(SP), SI
	ADDQ    $64, DX
	DECQ    CX
	JNZ     block
	VZEROUPPER
	MOVQ    R15, quotes_before(DI)
	MOVQ    R8, mask+32(FP)
	SUBQ    p+0(FP), R9
	MOVQ    R9, at+40(FP)
	MOVQ    R10, lines+48(FP)
	RET

quoted:
	FOLLOW
	MOVQ quotes_returned(DI), R13
	ORQ  R11, R13
	JNZ  carriage

cut:
	OUTSIDE
	JMP outside

carriage:
	CARRIAGE
	JMP cut

// Those that have no line feed behind them. What is behind the last block is taken for one. R12 is made again.
returns:
	VPMOVMSKB Y4, R13
	VPMOVMSKB Y5, R12
	SHLQ      $32, R12
	ORQ       R12, R13
	MOVQ      AX, R12
	SHRQ      $1, R12
	CMPQ      CX, $1
	JEQ       fed
	CMPB      64(DX), $10
	JNE       alone

fed:
	BTSQ $63, R12

alone:
	ANDNQ R13, R12, R13
	ORQ   R13, quotes_lone(DI)
	MOVQ  R14, R12
	ORQ   R11, R12
	JMP   returned
