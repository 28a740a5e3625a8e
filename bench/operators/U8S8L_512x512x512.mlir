func.func @U8S8L_512x512x512(%a: tensor<512x512xi8>, %b: tensor<512x512xi8> {kiln.constant}) -> tensor<512x512xi32> {
  %zero = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<512x512xi32>
  %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<512x512xi32>) -> tensor<512x512xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%1 : tensor<512x512xi32>) {
    ^bb0(%x: i8, %y: i8, %out: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %product = arith.muli %u, %v : i32
      %sum = arith.addi %out, %product : i32
      linalg.yield %sum : i32
    } -> tensor<512x512xi32>
  return %2 : tensor<512x512xi32>
}
