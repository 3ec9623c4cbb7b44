import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// The offline regions of a catalogue: named parts that stay, whatever is pruned.
///
/// Safe to use from any number of threads.
public struct Regions: Sendable {
  package let catalogue: Catalogue
  package let assets: AssetStore

  package init(catalogue: Catalogue, assets: AssetStore) {
    (self.catalogue, self.assets) = (catalogue, assets)
  }

  private var database: Database { catalogue.database }

  /// Creates a region; nothing is downloaded yet. What is stored for its locations belongs to it at once.
  ///
  /// - Parameter name: 1 to 128 bytes without control characters
  /// - Returns: the region; an existing one of the same name and definition
  /// - Throws: `SatchelError` `.constraint` when a region of that name has another definition, `.invalid`, `.readOnly`,
  ///   `.full`, `.io`, `.closed`; `JSONError` for an invalid definition
  @discardableResult
  public func create(_ name: String, _ definition: RegionDefinition) throws -> Region {
    try RegionDefinition.check(name: name)
    try definition.check()
    try database.prepare(RegionSchema.subject)
    try database.write { transaction in
      let table = RegionTable(connection: transaction.connection)
      if let known = try table.row(name) {
        guard known.definition == definition else {
          throw SatchelError(
            .constraint, "region \(name): exists with another definition; define it again, or delete it"
          ).at(.region(name))
        }
        return
      }
      _ = try table.insert(name, definition, now: transaction.now)
    }
    return Region(name: name, regions: self)
  }

  /// Returns all regions with their states, by name.
  ///
  /// Time grows with the content of the regions.
  public func list() throws -> [RegionSummary] {
    try database.query { connection in
      try RegionTable(connection: connection).all().map { try survey($0, connection).summary() }
    }
  }

  /// Returns a region; nil when no region has that name.
  public subscript(name: String) -> Region? {
    get throws {
      try database.query { try RegionTable(connection: $0).row(name) }.map {
        Region(name: $0.name, regions: self)
      }
    }
  }

  /// - Throws: `SatchelError` `.notFound` when no region has that name
  package func existing(_ name: String) throws -> Region {
    guard let region = try self[name] else { throw Region(name: name, regions: self).notFound }
    return region
  }

  func survey(_ row: RegionTable.Row, _ connection: Connection) throws -> RegionSurvey {
    try RegionSurvey(
      row, in: connection, now: catalogue.database.clock.now(),
      variants: { try self.catalogue.index.view(of: connection) })
  }
}

/// An offline region: a name, under which the store keeps its definition.
public struct Region: Sendable {
  public let name: String
  package let regions: Regions

  package init(name: String, regions: Regions) { (self.name, self.regions) = (name, regions) }

  var catalogue: Catalogue { regions.catalogue }
  var database: Database { regions.catalogue.database }

  /// Returns the region with its state and sizes.
  ///
  /// - Throws: `SatchelError` `.notFound` when it was deleted, `.io`, `.closed`
  public func summary() throws -> RegionSummary { try survey().summary() }

  public var state: RegionState { get throws { try survey().state } }

  /// Returns what is here and what is to come, as far as it is known without downloading content: before the content is
  /// here, the assets that it refers to are not known.
  public func estimate() throws -> RegionSize { try survey().size }

  /// Replaces the definition. What belongs to it no more is pruned like other content; a download gets what is new.
  public func define(_ definition: RegionDefinition) throws {
    try definition.check()
    try database.write { transaction in
      let table = RegionTable(connection: transaction.connection)
      guard let row = try table.row(name) else { throw notFound }
      if row.definition != definition { try table.define(row.id, definition, now: transaction.now) }
    }
  }

  func survey() throws -> RegionSurvey {
    try database.query { connection in
      guard let row = try RegionTable(connection: connection).row(name) else { throw notFound }
      return try regions.survey(row, connection)
    }
  }

  var notFound: SatchelError {
    SatchelError(.notFound, "region \(name): does not exist").at(.region(name))
  }

  /// Deletes the region with its content, and returns its space to the file system. What another region has, and what the
  /// active location shows, stays, and so do assets that something else refers to.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.invalid` in a transaction, `.readOnly`, `.full`, `.io`, `.closed`
  @discardableResult
  public func delete() throws -> RegionDeletion {
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "region \(name): cannot be deleted in a transaction").at(.region(name))
    }
    let before = try database.pageBytes()
    let hasAssets = try database.has(AssetSchema.subject)
    var deletion = try database.write { transaction in
      try catalogue.index.merge(in: transaction)
      let table = RegionTable(connection: transaction.connection)
      guard let row = try table.row(name) else { throw notFound }
      let mine = try PinnedContent(of: [row.definition], in: transaction.connection) {
        try self.catalogue.index.view(of: transaction.connection)
      }
      let candidates = try mine.assets()
      try table.remove(row.id)
      var pruner = try catalogue.pruner(PruneOptions(), transaction)
      var deletion = try pruner.delete(mine)
      if hasAssets {
        (deletion.assets, deletion.assetBytes) = try AssetStore.release(candidates, in: transaction)
      }
      return deletion
    }
    try database.shrink()
    if hasAssets { deletion.waitingFiles = try regions.assets.collect() }
    deletion.fileBytes = max(0, before - (try database.pageBytes()))
    return deletion
  }
}

extension SatchelError.Details {
  /// The place of an error about an offline region.
  static func region(_ name: String) -> SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.catalogue.rawValue, id: name)
  }
}
