import SatchelStorage

/// Which block it is about, for errors.
struct BlockPlace {
  var shard: Shard.Index
  var id: Int64

  func damage(_ reason: String) -> SatchelError {
    SatchelError(.damaged, "shard \(shard), block \(id): \(reason)")
  }
}
