import SatchelCore
import SatchelSync
import SatchelStorage

/// A collection in a write transaction: its numbers are kept in memory, and written once.
final class WorkingCollection {
  /// The numbers that are restored when a savepoint fails.
  struct Numbers {
    /// The number of records with numbers below `counted`.
    var count: Int64
    var counted: Int64
    var next: Int64
    /// See `CollectionRow.revised`.
    var revised: Int64
    /// Rows up to this number are in record_key.
    var indexedThrough: Int64
    /// The name of the key that seals sensitive fields; nil when none were sealed.
    var sealedBy: [UInt8]?
    /// The keys of changed records; at most `maxNamedChanges`.
    var changed: [String] = []
    /// Whether more records changed than are named.
    var hasTooManyChanges = false
    var isDirty = false
  }

  let row: CollectionRow
  let shape: CollectionShape
  let keys: DeferredIndex<RecordIDs>
  var numbers: Numbers

  init(_ row: CollectionRow, _ shape: CollectionShape, keys: DeferredIndex<RecordIDs>) {
    self.row = row
    self.shape = shape
    self.keys = keys
    numbers = Numbers(
      count: row.stored, counted: row.counted, next: row.next, revised: row.revised,
      indexedThrough: row.indexedThrough, sealedBy: row.sealedBy)
  }

  var id: Int64 { row.id }
  var name: String { row.name }
  var base: Int64 { RecordRow.base(of: row.id) }
  /// Whether its changes are recorded, to be sent.
  var isSynchronized: Bool { row.isBound && shape.isSynced }
  /// Whether the document that a write replaces is needed.
  var needsOldDocument: Bool { shape.needsOldDocument || row.isBound }

  /// - Throws: `SatchelError` (`invalid`) for a document that could never be sent. Where it is not certain that the
  ///   collection will be synchronized, the sync names it.
  func checkSize(_ body: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) throws {
    guard body.count > SyncEnvelope.maximumDocument, isSynchronized || shape.isDeclaredSynced else { return }
    let id = String(decoding: key, as: UTF8.self)
    throw SatchelError(
      .invalid,
      "\(name)/\(id): has \(body.count) bytes, and a document that is synchronized has at most "
        + "\(SyncEnvelope.maximumDocument); put it into a collection that is declared with synced=false"
    ).at(subject: "records", collection: name, id: id, limit: SyncEnvelope.maximumDocument)
  }

  /// The maximum number of uncounted records: not counting each new record saves writing a page, and counting
  /// this many is cheap.
  static let maxUncounted: Int64 = 256

  /// Counts the uncounted records. Must be called before a record is deleted; otherwise its number could be
  /// assigned again.
  func countAll(_ connection: Connection) throws {
    guard numbers.counted < numbers.next else { return }
    numbers.count += try CollectionRow.uncounted(id, numbers.counted..<numbers.next, connection: connection)
    numbers.counted = numbers.next
    numbers.isDirty = true
  }

  /// Prepares the collection for the next transaction, when no other process has written since.
  func resetChanges() {
    numbers.changed = []
    numbers.hasTooManyChanges = false
  }

  /// The maximum number of records that a change names; beyond it, the change names only the collection.
  static let maxNamedChanges = 256

  func noteChange(_ key: UnsafeRawBufferPointer) {
    // The subject of a reserved collection notes its changes itself.
    guard !numbers.hasTooManyChanges, !shape.isReserved else { return }
    guard numbers.changed.count < Self.maxNamedChanges else {
      numbers.hasTooManyChanges = true
      numbers.changed = []
      return
    }
    numbers.changed.append(name + "/" + String(decoding: key, as: UTF8.self))
  }

  /// The keys that observers are notified of.
  var changeKeys: [String] { numbers.hasTooManyChanges ? [name] : numbers.changed }

  /// Returns an error about one record.
  func problem(
    _ key: UnsafeRawBufferPointer, _ pointer: String?, reason: String,
    code: SatchelError.Code = .constraint, underlying: (any Error)? = nil
  ) -> SatchelError {
    let id = String(decoding: key, as: UTF8.self)
    return SatchelError(
      code, "\(name)/\(id): " + (pointer.map { "\($0): " } ?? "") + reason, underlying: underlying
    ).at(.record(name, key, pointer: pointer))
  }
}

extension SatchelError {
  /// Whether it rejects one document, for its content or because the encryption key is missing: others can
  /// still be written.
  package var isRejectedDocument: Bool { code == .invalid || code == .constraint || code == .unauthorized }
}
