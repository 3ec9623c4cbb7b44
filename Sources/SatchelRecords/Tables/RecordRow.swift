/// How rows are numbered: a collection's id times 2^40, plus the record's number.
enum RecordRow {
  static let bits: Int64 = 40

  /// Far more than there will ever be; a row of a higher one is damaged.
  static let mostCollections: Int64 = 1 << 20

  /// What a collection's id can be.
  static var collections: ClosedRange<Int64> { 1...mostCollections }
  /// What can be counted of a collection's records, and their numbers in it.
  static var numbers: ClosedRange<Int64> { 0...1 << bits }
  /// What the version of a collection can be; 0 for one that only others name.
  static var versions: ClosedRange<Int64> { 0...Int64(Int32.max) }
  /// Other devices send revisions up to 2^53, which then grow here.
  static var revisions: ClosedRange<Int64> { 0...1 << 60 }

  static var rows: ClosedRange<Int64> { 1 << bits...(mostCollections + 1) << bits }

  static func base(of collection: Int64) -> Int64 { collection << bits }
  static func collection(of row: Int64) -> Int64 { row >> bits }
}
