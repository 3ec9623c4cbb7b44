import SatchelAssets
import SatchelCatalogue
import SatchelCore
import SatchelJSON
import SatchelStorage

/// The content of a file that a region was exported to.
public struct RegionExport: Sendable, Equatable, JSONConvertible {
  public var sections = 0
  public var entities = 0
  public var assets = 0
  /// The assets of the region whose bytes are not here, or are encrypted: the file does not have them.
  public var missingAssets = 0
  /// The size of the file in bytes.
  public var bytes: Int64 = 0

  init(_ counts: RegionCopy.Counts, bytes: Int64) {
    (sections, entities, assets) = (counts.sections, counts.entities, counts.assets)
    (missingAssets, self.bytes) = (counts.missingAssets, bytes)
  }

  public var json: JSONValue {
    [
      "sections": .int(Int64(sections)), "entities": .int(Int64(entities)), "assets": .int(Int64(assets)),
      "missing_assets": .int(Int64(missingAssets)), "bytes": .int(bytes),
    ]
  }
}

extension Region {
  /// Writes the region into one file: a store of its own with the region's definition, content and assets, which
  /// `Regions.importRegion` adds to another store. What is not here is not in the file.
  ///
  /// - Parameter path: a region's file there is replaced
  /// - Throws: `SatchelError` `.notFound` when the region was deleted, `.foreign` when another program's file is at the
  ///   path, `.invalid` in a transaction, `.full` for an asset of more than 512 MiB and for a full disk, `.io`, `.closed`.
  ///   The path has what it had then.
  @discardableResult
  public func export(to path: String) throws -> RegionExport {
    let database = regions.catalogue.database
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "region \(name): cannot be exported in a transaction")
    }
    guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
      throw SatchelError(.invalid, "path: is not the path of a file")
    }
    _ = try regions.existing(name)
    // A file in the same directory, because it may need as much space as the region.
    let part = path + ".\(UInt64.random(in: 0 ... .max)).region"
    var options = StoreOptions()
    (options.durability, options.clock) = (.relaxed, Clock { [clock = database.clock] in clock.now() })
    defer { Self.remove(part) }
    let file = try Store(path: part, options: options)
    defer { try? file.close() }
    var copy = RegionCopy(
      self, to: Regions(catalogue: file.catalogue, assets: AssetStore(file.database, keepsRows: true)))
    try copy.run()
    let report = try file.backup(to: path, assets: false)
    return RegionExport(copy.counts, bytes: report.bytes)
  }

  private static func remove(_ part: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) }
  }
}

extension Regions {
  /// Adds the region of a file that `Region.export` wrote. The file may come from anywhere: it is opened read-only and
  /// checked completely first, and its content is stored like that of a delivery. What was fetched here later than there
  /// stays.
  ///
  /// - Returns: the region; one of the same name gets the definition of the file
  /// - Throws: `SatchelError` `.notFound`, `.foreign`, `.damaged`, `.newer` for the file; `.full` with the region's name,
  ///   `.readOnly`, `.invalid` in a transaction, `.io`, `.closed`. The store has what it had then.
  @discardableResult
  public func importRegion(_ path: String) throws -> Region {
    let database = catalogue.database
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "\(path): cannot be imported in a transaction")
    }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only; open it writable to import a region")
    }
    guard path != ":memory:" else { throw SatchelError(.invalid, "path: is not the path of a file") }
    var options = StoreOptions()
    (options.isReadOnly, options.isImmutable) = (true, true)
    options.clock = Clock { [clock = database.clock] in clock.now() }
    let file = try Store(path: path, options: options)
    defer { try? file.close() }
    if let finding = try file.check().first {
      throw SatchelError(.damaged, "\(path): \(finding.message)")
    }
    let found = try file.catalogue.regions.list()
    guard found.count == 1, let name = found.first?.name, let region = try file.catalogue.regions[name] else {
      throw SatchelError(.foreign, "\(path): has \(found.count) regions; the file of a region has one")
    }
    do {
      var copy = RegionCopy(region, to: self)
      try copy.run()
    } catch let error as JSONError {
      throw SatchelError(.damaged, "\(path): \(error)", underlying: error)
    } catch var error as SatchelError where error.code == .full {
      error.message = "region \(name): \(error.message)"
      throw error.at(id: name)
    }
    return Region(name: name, regions: self)
  }
}
