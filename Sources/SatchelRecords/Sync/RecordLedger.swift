import SatchelCore
import SatchelRemote
import SatchelStorage

/// What a sync asks of the local side of one collection. Each call is one transaction: it is done as a whole, or not
/// at all. Calls come from several threads at once, but never two at once about one record.
protocol RecordLedger: Sendable {
  /// Who the collection agrees with; changes nothing.
  func binding() throws -> RecordBinding

  /// Notes whose records they are, before the first is agreed. The first time, every record of the collection becomes
  /// pending with sequence 0. Again for the same user: nothing.
  ///
  /// - Throws: `SatchelError` (`foreign`) when it is another user's by now
  func begin(user: UserID) throws

  /// A part of what is known: every record that there is, and every one that was deleted and is still remembered.
  ///
  /// Whoever goes on until `next` is nil sees each record once that was there all the time.
  func marks(from cursor: RecordCursor?, limit: Int) throws -> RecordMarks

  /// What is known of certain records, in their order; nil for those of which nothing is.
  func marks(of ids: [String]) throws -> [RecordMark?]

  /// All that is known of one record, at one moment. Nothing is known of it: everything is nil.
  func state(of id: String) throws -> RecordState

  /// A document of an older version of the collection in the form of the present one.
  ///
  /// - Parameter version: less than `RecordBinding.version`
  /// - Throws: `SatchelError` when a step cannot be done with it
  func migrated(_ document: [UInt8], from version: Int64) throws -> [UInt8]

  /// Notes, durably, that the change with this sequence is about to be sent in this envelope.
  ///
  /// - Throws: `SatchelError` (`busy`) unless that is the pending change, and no other envelope is on its way
  func noteSending(_ id: String, sequence: Int64, envelope: [UInt8]) throws

  /// What was on its way has not arrived, and never will.
  ///
  /// - Throws: `SatchelError` (`busy`) unless it is on its way
  func forgetSending(_ id: String, sequence: Int64) throws

  /// What was on its way is in the master, or in what is there now: it becomes the base. The change is settled if it
  /// is the last one; a later one stays pending. Failures are forgotten, and so is an open conflict.
  ///
  /// - Parameter etag: of the object that holds it; nil when another one has been built on it since
  /// - Throws: `SatchelError` (`busy`) unless it is on its way
  func settle(_ id: String, sequence: Int64, etag: ETag?) throws

  /// A proven object of the master becomes the base, and nothing is on its way any more.
  ///
  /// Failures are forgotten, and so is an open conflict unless `taking` is to open one.
  ///
  /// - Parameters:
  ///   - stamp: of the state for which it was decided
  ///   - envelope: the object's bytes
  ///   - taking: what becomes of the local side
  ///   - isLost: the local content stood against it and gives way; it is kept as a conflict of kind "lost", with
  ///     this envelope and the base from before
  /// - Throws: `SatchelError`: `busy` when the record is no longer in that state; what the collection says against
  ///   the content (`invalid`), then nothing was changed
  func take(
    _ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag, taking: RecordTaking, isLost: Bool
  ) throws

  /// The master no longer has what was agreed: the record is to be sent again, whether it was changed or not. The base
  /// stays, its tag is forgotten, and nothing is on its way any more. What is not pending gets a new sequence.
  ///
  /// - Throws: `SatchelError` (`busy`) when the record is no longer in that state
  func renew(_ id: String, stamp: RecordStamp) throws

  /// Both sides were changed, and the host is to decide: an open conflict with both versions and the base. There is
  /// one per record; a new one takes the place of the old. The record stays as it is, and pending; nothing is on its
  /// way any more. Failures are forgotten.
  ///
  /// When the host decides, `envelope` becomes the base with `etag`, the decision becomes the local content and is
  /// pending: so it is sent on top of what the host has seen, and on nothing else.
  ///
  /// - Throws: `SatchelError` (`busy`) when the record is no longer in that state
  func ask(_ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag) throws

  /// Notes why a record stays as it is, how often that has happened, and when it is worth trying again.
  func fail(_ id: String, error: SatchelError, attempts: Int, retryAt: Int64) throws

  /// The sync has come to its end.
  ///
  /// - Parameter isComplete: whether nothing is left to do
  func finish(isComplete: Bool) throws
}
