// a * b + a, element by element.
func.func @scale(%a: tensor<256xf32>, %b: tensor<256xf32>) -> tensor<256xf32> {
  %0 = arith.mulf %a, %b : tensor<256xf32>
  %1 = arith.addf %0, %a : tensor<256xf32>
  return %1 : tensor<256xf32>
}
