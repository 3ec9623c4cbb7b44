import SatchelStorage

/// A collection in a transaction that writes: its numbers are kept here, and written once.
final class WorkingCollection {
  /// What a failure of an inner transaction takes back.
  struct Numbers {
    /// Of the records with numbers below `counted`.
    var count: Int64
    var counted: Int64
    var next: Int64
    /// The number of the latest change that has to travel.
    var sequence: Int64
    /// Numbers up to here are in record_key.
    var indexedThrough: Int64
    /// How many entries each index has.
    var entries: [Int64]
    /// Ids that changed; no more than `mostNamed`.
    var changed: [String] = []
    /// Whether more changed than are named.
    var isMuch = false
    var isDirty = false
  }

  let row: CollectionRow
  let shape: CollectionShape
  let keys: DeferredIndex<RecordIDs>
  var numbers: Numbers

  init(
    _ row: CollectionRow, _ shape: CollectionShape, _ keys: DeferredIndex<RecordIDs>, entries: [Int64]
  ) {
    self.row = row
    self.shape = shape
    self.keys = keys
    numbers = Numbers(
      count: row.stored, counted: row.counted, next: row.next, sequence: row.sequence,
      indexedThrough: row.indexedThrough, entries: entries)
  }

  var id: Int64 { row.id }
  var name: String { row.name }
  var base: Int64 { RecordRow.base(of: row.id) }

  /// Records that need not be counted: writing one more changes a page less, and counting them is cheap.
  static let mostUncounted: Int64 = 256

  /// Counts what is not counted yet. Must be done before a record is deleted, or its number could be taken again.
  func countAll(_ connection: Connection) throws {
    guard numbers.counted < numbers.next else { return }
    numbers.count += try CollectionRow.uncounted(id, numbers.counted..<numbers.next, connection)
    numbers.counted = numbers.next
    numbers.isDirty = true
  }

  /// For the next transaction, where nobody has written since.
  func beginAgain() {
    numbers.changed = []
    numbers.isMuch = false
  }

  /// Ids that a change names; beyond, it names the collection alone.
  static let mostNamed = 256

  func noteChange(_ key: UnsafeRawBufferPointer) {
    guard !numbers.isMuch else { return }
    guard numbers.changed.count < Self.mostNamed else {
      numbers.isMuch = true
      numbers.changed = []
      return
    }
    numbers.changed.append(name + "/" + String(decoding: key, as: UTF8.self))
  }

  /// What observers hear.
  var told: [String] { numbers.isMuch ? [name] : numbers.changed }

  /// An error about one record.
  func problem(
    _ key: UnsafeRawBufferPointer, _ pointer: String?, _ reason: String, code: SatchelError.Code = .invalid
  ) -> SatchelError {
    let id = String(decoding: key, as: UTF8.self)
    return SatchelError(code, "\(name)/\(id): " + (pointer.map { "\($0): " } ?? "") + reason)
  }
}
