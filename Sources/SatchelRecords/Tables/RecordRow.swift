/// How rows are numbered: a collection's id times 2^40, plus the record's number.
enum RecordRow {
  static let bits: Int64 = 40

  /// Far more than there will ever be; a row of a higher one is damaged.
  static let mostCollections: Int64 = 1 << 20

  static func base(of collection: Int64) -> Int64 { collection << bits }
  static func collection(of row: Int64) -> Int64 { row >> bits }
}
