import Foundation
import SatchelCatalogue
import SatchelJSON
import SatchelCore
import SatchelStorage
import SatchelStorageTesting
import SatchelTesting
import Testing

/// Persisting a section while every operation on the disk fails, one after the other.
@Suite("Persisting on a disk that fails at any point")
struct FaultPersistTests {
  private static let migrations = [Migration(version: 1, sql: ChangeLog.schema + CatalogueSchema.version1)]

  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/store" }
  private let location: Location

  init() throws {
    location = try Location(locality: "Shanghai", countryCode: "cn")
    folder = try TemporaryDirectory()
  }

  private func open(_ disk: FaultyDisk?) throws -> Database {
    var options = StoreOptions()
    options.vfsName = disk?.name
    options.clock = Clock { 1_700_000_000_000 }
    return try Database.open(path: path, options: options, migrations: Self.migrations)
  }

  /// Returns a section with several entities, all of one generation.
  private static func section(_ generation: Int) -> JSONValue {
    let items = (0..<12).map { number -> JSONValue in
      [
        "title": .string("\(generation) " + String(repeating: "x", count: 300)),
        "_storage": ["entity_id": .string("food:\(number)"), "scope": "locality"],
      ]
    }
    return [
      "section": "food", "display_title": .string("Food \(generation)"), "action": "replace",
      "content": ["items": .array(items)],
    ]
  }

  /// Returns the stored generation; nil when the entities have different generations.
  private func generation(_ catalogue: Catalogue) throws -> Int? {
    guard let section = try catalogue.load("food", at: location),
      case .object(let content) = section.content, case .array(let items)? = content["items"],
      items.count == 12
    else { return nil }
    let found = items.map { item -> Int? in
      guard case .object(let fields) = item, case .string(let title)? = fields["title"] else { return nil }
      return Int(title.prefix { $0 != " " })
    }
    return Set(found).count == 1 ? found[0] : nil
  }

  @Test(
    "a section stays as before or is stored completely, and the same handle can store it the next time",
    arguments: FaultyDisk.Operation.allCases, [false, true])
  func persist(operation: FaultyDisk.Operation, isForGood: Bool) throws {
    let made = try open(nil)
    _ = try Catalogue(database: made).persist(Self.section(0), at: location)
    try made.close()
    let bytes = try Data(contentsOf: URL(filePath: path))
    for kind in FaultyDisk.Kind.allCases where kind == .io || operation == .write {
      var isHit = true
      var n = 0
      while isHit, n < 500 {
        n += 1
        try bytes.write(to: URL(filePath: path))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let disk = try FaultyDisk()
        let database = try open(disk)
        let catalogue = Catalogue(database: database)
        disk.fail(operation, at: n, kind, forGood: isForGood)
        var error: SatchelError?
        do {
          _ = try catalogue.persist(Self.section(1), at: location)
        } catch let met as SatchelError {
          error = met
        }
        isHit = disk.hits > 0
        disk.heal()
        if let error {
          #expect(isHit)
          #expect([.io, .full, .readOnly].contains(error.code), "n = \(n): \(error.code): \(error)")
        }
        #expect(try generation(catalogue) == (error == nil ? 1 : 0), "n = \(n)")
        _ = try catalogue.persist(Self.section(2), at: location)
        #expect(try generation(catalogue) == 2, "n = \(n)")
        try database.close()
        let again = try open(nil)
        #expect(try generation(Catalogue(database: again)) == 2, "n = \(n)")
        #expect(try again.checkIntegrity().isEmpty)
        #expect(try Catalogue(database: again).check().isEmpty)
        try again.close()
      }
      #expect(n < 500)
    }
  }
}
