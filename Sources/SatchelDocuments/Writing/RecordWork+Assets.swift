import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// The assets that documents refer to.
extension RecordWork {
  /// Returns the table of assets; nil while the store has none.
  ///
  /// - Parameter making: whether it is created
  func assets(making: Bool = false) throws -> AssetTable? {
    if hasAssets == true { return AssetTable(connection) }
    if making {
      try store.database.prepare(AssetSchema.subject)
      hasAssets = true
    } else if hasAssets == nil {
      hasAssets = try store.database.has(AssetSchema.subject)
    }
    return hasAssets == true ? AssetTable(connection) : nil
  }

  /// Finds the references of a document that is about to be written.
  ///
  /// - Parameters:
  ///   - row: of the record; nil for a new one
  ///   - isStrict: whether members that are not references, and assets that are nowhere, are refused
  /// - Returns: nil when it has no member `_asset`
  /// - Throws: `.constraint`
  func assetReferences(
    in body: UnsafeRawBufferPointer, of row: Int64?, _ key: UnsafeRawBufferPointer, isStrict: Bool,
    in collection: CollectionState
  ) throws -> AssetReferences? {
    guard AssetReferences.mayContain(body) else { return nil }
    let references = try AssetReferences(in: body)
    guard !references.isEmpty else { return nil }
    if !isStrict { return references }
    let problem =
      try references.problems.first
      ?? (assets() ?? AssetTable(absentFrom: connection)).problem(
        with: references, of: row.map { AssetOwner(.record, $0) })
    if let problem { throw collection.problem(key, problem.pointer, reason: problem.reason) }
    return references
  }

  /// Records what a document refers to, after it was written.
  func setAssets(_ references: AssetReferences?, of record: Int64, isNew: Bool) throws {
    guard let references else {
      if !isNew { try removeAssets(of: record) }
      return
    }
    try assets(making: true)?.setReferences(of: AssetOwner(.record, record), to: references, now: now)
  }

  func removeAssets(of record: Int64) throws {
    try assets()?.removeReferences(of: AssetOwner(.record, record), now: now)
  }
}
