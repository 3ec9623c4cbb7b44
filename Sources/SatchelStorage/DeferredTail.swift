/// The rows behind `floor`, up to `seen`, by hash.
struct DeferredTail {
  var floor: Int64 = 0
  var seen: Int64 = 0
  /// Nearly every hash has one row: that costs no array.
  private(set) var first: [Int64: Int64] = [:]
  private(set) var others: [Int64: [Int64]] = [:]

  init(floor: Int64 = 0, seen: Int64 = 0) {
    self.floor = floor
    self.seen = seen
  }

  var count: Int { first.count }
  var hasOthers: Bool { !others.isEmpty }

  var entries: [(hash: Int64, row: Int64)] {
    first.map { ($0.key, $0.value) } + others.flatMap { hash, rows in rows.map { (hash, $0) } }
  }

  mutating func add(_ hash: Int64, _ row: Int64) {
    if let known = first.updateValue(row, forKey: hash), known != row {
      others[hash, default: []].append(known)
    }
    seen = max(seen, row)
  }

  mutating func take(_ other: DeferredTail) {
    if first.isEmpty {
      first = other.first
      others = other.others
      return
    }
    for (hash, row) in other.first { add(hash, row) }
    for (hash, rows) in other.others { others[hash, default: []] += rows }
  }
}
