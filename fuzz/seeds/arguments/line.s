; run: --grid 64 --block 64,1 --arg x=zeros:4096 --arg f32:1.5 --arg image:8x4,format=r,type=float --arg sampler:linear,repeat
; run: --arg iota:u32:16 --show 0:f32:4 --timeout 1 --arg force:u8:3
// run: --expect 0:"a b.npy" --rtol 1e-3
