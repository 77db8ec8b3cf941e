#include "textflag.h"

// The sets with a word that has at its place the bytes of y, whose tables low and high are; to y.
#define SETS(y, low, high) \
	VPAND   Y6, y, Y11    \
	VPSRLW  $4, y, y      \
	VPAND   Y6, y, y      \
	VPSHUFB Y11, low, Y11 \
	VPSHUFB y, high, y    \
	VPAND   Y11, y, y

// func nextAVX2(t *prefixes, p *byte, n int) (at int, beyond uint32)
TEXT ·nextAVX2(SB), NOSPLIT, $0-36
	MOVQ           t+0(FP), AX
	MOVQ           p+8(FP), SI
	MOVQ           n+16(FP), CX
	VBROADCASTI128 (AX), Y0
	VBROADCASTI128 16(AX), Y1
	VBROADCASTI128 32(AX), Y2
	VBROADCASTI128 48(AX), Y3
	VBROADCASTI128 64(AX), Y4
	VBROADCASTI128 80(AX), Y5
	MOVL           $15, BX
	VMOVD          BX, X6
	VPBROADCASTB   X6, Y6
	VPXOR          Y7, Y7, Y7          // all bytes so far
	VPXOR          Y12, Y12, Y12
	LEAQ           -34(SI)(CX*1), DX   // the last 32 places
	MOVQ           SI, DI

places:
	VMOVDQU   (DI), Y8
	VMOVDQU   1(DI), Y9
	VMOVDQU   2(DI), Y10
	VPOR      Y8, Y7, Y7
	VPOR      Y10, Y7, Y7
	SETS(Y8, Y0, Y1)
	SETS(Y9, Y2, Y3)
	SETS(Y10, Y4, Y5)
	VPAND     Y8, Y9, Y9
	VPAND     Y9, Y10, Y10
	VPCMPEQB  Y12, Y10, Y10
	VPMOVMSKB Y10, BX
	NOTL      BX
	TESTL     BX, BX
	JNZ       found
	CMPQ      DI, DX
	JEQ       none
	ADDQ      $32, DI
	CMPQ      DI, DX
	CMOVQHI   DX, DI                   // those before the last 32 are looked at twice rather than alone
	JMP       places

none:
	MOVQ $-1, DI
	JMP  end

found:
	TZCNTL BX, BX
	ADDQ   BX, DI
	SUBQ   SI, DI

end:
	VPMOVMSKB Y7, BX
	VZEROUPPER
	MOVQ      DI, at+24(FP)
	MOVL      BX, beyond+32(FP)
	RET
