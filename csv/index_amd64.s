#include "textflag.h"

// One position: the lowest bit of AX, plus the block's offset R10, goes to the slot at k(R12); the bit is cleared.
#define POSITION(k) \
	TZCNTQ AX, BX      \
	ADDL   R10, BX     \
	MOVW   BX, k(R12)  \
	BLSRQ  AX, AX

// func indexAVX2(pos *uint16, lines *uint64, p *byte, blocks int, comma byte) (n int)
//
// It does what fillPortable does, with 32 bytes per comparison and bit instructions that Go's baseline for amd64 lacks.
TEXT ·indexAVX2(SB), NOSPLIT, $0-48
	MOVQ         pos+0(FP), R8
	MOVQ         lines+8(FP), SI
	MOVQ         p+16(FP), DX
	MOVQ         blocks+24(FP), CX
	VPBROADCASTB comma+32(FP), Y0
	MOVL         $10, AX
	VMOVD        AX, X1
	VPBROADCASTB X1, Y1
	XORL         R9, R9             // positions so far
	XORL         R10, R10           // offset of the block

block:
	VMOVDQU   (DX), Y2
	VMOVDQU   32(DX), Y3
	VPCMPEQB  Y1, Y2, Y4
	VPCMPEQB  Y1, Y3, Y5
	VPCMPEQB  Y0, Y2, Y6
	VPCMPEQB  Y0, Y3, Y7
	VPMOVMSKB Y4, AX
	VPMOVMSKB Y5, BX
	SHLQ      $32, BX
	ORQ       BX, AX
	MOVQ      AX, (SI)
	VPMOVMSKB Y6, AX
	VPMOVMSKB Y7, BX
	SHLQ      $32, BX
	ORQ       BX, AX

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
	MOVQ R9, n+40(FP)
	RET

more:
	POSITION(16)
	ADDQ  $2, R12
	TESTQ AX, AX
	JNZ   more
	JMP   next
