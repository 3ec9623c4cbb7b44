import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelDocuments

/// Searches and writes of a searched collection while every operation on the disk fails, one after the other.
@Suite("Searching records on a disk that fails at any point")
struct RecordSearchFaultTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryDirectory() }

  private func open(_ disk: FaultyDisk?) throws -> (Database, RecordCollection) {
    var options = StoreOptions()
    options.vfsName = disk?.name
    let database = try Database.open(
      path: path, options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    let store = RecordStore(database: database, outbox: Outbox(path: path))
    return (database, try store.open(CollectionDeclaration("notes", search: ["title"], positions: ["at"])))
  }

  private static func document(_ number: Int, _ word: String) -> JSONValue {
    ["title": .string("\(word) \(number)"), "at": ["lat": .double(Double(number) / 2), "lon": 1.0]]
  }

  @Test(
    "the indexes have what the documents have, whatever fails",
    arguments: FaultyDisk.Operation.allCases, [false, true])
  func faults(operation: FaultyDisk.Operation, isSearched: Bool) throws {
    let (made, notes) = try open(nil)
    try notes.putMany((0..<100).map { ("n\($0)", Self.document($0, "apple")) })
    if isSearched {
      _ = try (notes.search("apple"), notes.near(latitude: 0, longitude: 1, within: 1))
    }
    try made.close()
    let bytes = try Data(contentsOf: URL(filePath: path))
    var (isHit, n) = (true, 0)
    while isHit, n < 500 {
      // All of the first ones, and then ever fewer: there are hundreds.
      n += 1 + (Portion.isWhole ? 0 : n / 8)
      try bytes.write(to: URL(filePath: path))
      for suffix in ["-wal", "-shm", ".outbox"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      let disk = try FaultyDisk()
      let (database, notes) = try open(disk)
      disk.fail(operation, at: n, .io, forGood: false)
      for step in [
        { _ = try notes.search("apple", limit: 200) },
        { _ = try notes.near(latitude: 0, longitude: 1, within: 1) },
        { try notes.put("n0", Self.document(0, "pear")) },
        { try notes.delete("n1") },
        { try notes.put("new", Self.document(40, "pear")) },
        { _ = try notes.search("pear") },
      ] {
        do {
          try step()
        } catch let error as SatchelError {
          #expect([.io, .full, .readOnly, .busy].contains(error.code), "n = \(n): \(error.code): \(error)")
        }
      }
      isHit = disk.hits > 0
      disk.heal()
      let documents = try notes.list()
      for word in ["apple", "pear"] {
        let expected = documents.filter { String(decoding: $0.body, as: UTF8.self).contains(word) }.map(\.id)
        #expect(try Set(notes.search(word, limit: 200).map(\.record.id)) == Set(expected), "n = \(n)")
      }
      #expect(try notes.near(latitude: 10, longitude: 1, within: 1).count >= 1)
      #expect(try RecordCollection.check(database).map(\.message) == [], "n = \(n)")
      try database.close()
    }
    #expect(n > 1 || operation == .truncate || operation == .delete)
  }
}
