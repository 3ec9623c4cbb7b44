/// A store that makes several new objects durable at once. Of one that is no such store each object is durable as soon as
/// it is written.
package protocol LazyObjectStore: ObjectStore {
  /// Writes a new object. Readers see it at once; a loss of power may undo it until `makeDurable` has returned.
  ///
  /// - Throws: as `put` with the condition `.ifAbsent`
  func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation) throws(ObjectStoreError)

  /// Makes durable what was written lazily.
  ///
  /// - Parameter prefix: that of the objects' keys, up to their last slash
  func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError)
}
