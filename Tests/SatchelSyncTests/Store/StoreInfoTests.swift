import Foundation
import Satchel
import SatchelTesting
import Testing

struct StoreInfoTests {
  @Test("properties of a store are Codable, and print as JSON") func codable() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.satchel"
    let store = try Store(path: path)
    var info = try store.info()
    #expect(info.path == path && !info.isReadOnly && info.quarantined == nil)
    #expect(info.schemaVersion == 1 && info.fileBytes > 0)
    let numbers = info.sqliteVersion.split(separator: ".").compactMap { Int($0) }
    #expect(numbers.count >= 2)
    for quarantined in [nil, "/a.quarantine-1"] {
      info.quarantined = quarantined
      #expect(try "\(info)" == info.json.text)
      #expect(try JSONDecoder().decode(StoreInfo.self, from: JSONEncoder().encode(info)) == info)
      #expect(try info.json.decode(as: StoreInfo.self) == info)
      #expect(info.json["quarantined"] == quarantined.map { .string($0) } ?? .null)
    }
  }

  @Test("they contain how the store was opened") func readOnly() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.satchel"
    try Store(path: path).close()
    var options = StoreOptions()
    options.isReadOnly = true
    #expect(try Store(path: path, options: options).info().isReadOnly)
  }
}
