import SatchelCore
import SatchelJSON
import SatchelStorage

/// Options of a prune. The default removes the content of expired entities.
public struct PruneOptions: Sendable {
  /// Whether to remove the content of expired entities.
  public var expired = true
  /// Whether to remove entities that no section references.
  public var unreferenced = false
  /// Restricts the prune to entities that this section references.
  public var section: String?
  /// Restricts the prune to entities of this scope.
  public var scope: Scope?
  /// Restricts the prune to entities that this location's own context references.
  public var location: Location?
  /// Removes contexts that were neither written nor read for this many milliseconds, except the active
  /// location's own, or those that serve it.
  public var contextsUnusedFor: Int64?
  /// Finally removes expired content, unreferenced entities and whole contexts, the least recently used first,
  /// until the catalogue's entities and templates have at most this many bytes. What other subjects have does not
  /// count. The search index is removed first and does not count either; the next search rebuilds it. What the
  /// active location shows stays, and so does the content of offline regions.
  public var maxBytes: Int64?

  public init() {}

  var isNarrowed: Bool { section != nil || scope != nil || location != nil }
}

/// The counts of what a prune removed.
public struct PruneReceipt: Sendable, Equatable, JSONConvertible {
  /// The number of variants whose content was removed.
  public var entities = 0
  /// The number of contexts that were removed.
  public var contexts = 0
  /// The size of the removed content in bytes.
  public var bytes = 0
  /// The number of bytes by which the store's file shrank.
  public var fileBytes = 0
  /// The size of the entities and templates that the catalogue has afterwards; nil without a byte budget.
  public var liveBytes: Int64?
  /// By how many bytes the budget is exceeded, because the active location and offline regions have that much; 0 when it was met.
  public var overBudget: Int64 = 0
  /// The bytes of the entities and templates that were selected, and that stay because offline regions have them. With a
  /// budget, those that were come upon before it was met.
  public var pinnedBytes: Int64 = 0

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "entities": .int(Int64(entities)), "contexts": .int(Int64(contexts)), "bytes": .int(Int64(bytes)),
      "file_bytes": .int(Int64(fileBytes)), "live_bytes": liveBytes.map { .int($0) } ?? .null,
      "over_budget": .int(overBudget), "pinned_bytes": .int(pinnedBytes),
    ]
  }
}

extension Catalogue {
  /// Removes content, and returns its space to the file system. The content of offline regions stays, also where it is
  /// expired.
  ///
  /// Without `expired` and `unreferenced`, it removes everything that `section`, `scope` and `location`
  /// select. An entity that a section still references is reported as missing afterwards, until it is
  /// delivered again.
  @discardableResult
  public func prune(_ options: PruneOptions = PruneOptions()) throws -> PruneReceipt {
    let before = try database.pageBytes()
    var receipt = try database.write { transaction in
      // Rows of entities must be in the index before they are deleted: see VariantIndex.nextRow.
      try index.merge(in: transaction)
      try usage.write(in: transaction)
      var pruner = try pruner(options, transaction)
      try pruner.run()
      pruner.noteChange()
      return pruner.receipt
    }
    try database.shrink()
    receipt.fileBytes = Int(max(0, before - (try database.pageBytes())))
    return receipt
  }
}

extension Catalogue {
  /// Deletes the content of all variants of an entity, and returns its space to the file system. Sections that
  /// reference it list it as missing, until it is delivered again. An offline region that has it is partial then.
  ///
  /// Time grows with the number of stored entities.
  @discardableResult
  public func deleteEntity(_ entityID: String) throws -> PruneReceipt {
    try deleting { try $0.delete(entity: entityID) }
  }

  /// Deletes what was delivered for a location itself: its sections, and the entities that only they reference. An
  /// offline region that has the location is partial then.
  @discardableResult
  public func deleteContext(_ location: Location) throws -> PruneReceipt {
    try deleting { try $0.delete(context: location) }
  }

  func pruner(_ options: PruneOptions, _ transaction: Transaction) throws -> Pruner {
    let connection = transaction.connection
    return Pruner(
      options, transaction,
      pinned: try PinnedContent.all(in: connection, variants: { try self.index.view(of: connection) }))
  }

  private func deleting(_ body: (inout Pruner) throws -> Void) throws -> PruneReceipt {
    let before = try database.pageBytes()
    var receipt = try database.write { transaction in
      try index.merge(in: transaction)
      var pruner = try pruner(PruneOptions(), transaction)
      try body(&pruner)
      pruner.noteChange()
      return pruner.receipt
    }
    try database.shrink()
    receipt.fileBytes = Int(max(0, before - (try database.pageBytes())))
    return receipt
  }
}
