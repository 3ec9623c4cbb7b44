import Foundation
import Satchel
import Testing

@Suite("Encrypting what a store synchronizes")
struct EncryptedSyncTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)
  private let key = [UInt8](repeating: 7, count: 32)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  private func code(_ body: () throws -> Void) -> SatchelError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? SatchelError)?.code }
  }

  @Test("neither ids nor documents can be read in the remote") func bytes() throws {
    try one.records("notes").put("secret-id", ["text": "secret text"])
    try devices.sync(one, key)
    let files = try #require(FileManager.default.enumerator(atPath: devices.directory.path + "/remote"))
    for case let name as String in files {
      let bytes = FileManager.default.contents(atPath: devices.directory.path + "/remote/" + name) ?? Data()
      #expect(bytes.range(of: Data("secret".utf8)) == nil, "\(name)")
    }
    let theirs = try two.records("notes")
    #expect(code { try devices.sync(two, nil) } == .unauthorized)
    #expect(code { try devices.sync(two, [UInt8](repeating: 8, count: 32)) } == .unauthorized)
    #expect(code { try devices.sync(two, [1, 2, 3]) } == .invalid)
    #expect(try devices.sync(two, key).records.downloaded == 1)
    #expect(try theirs.documents == ["secret-id": ["text": "secret text"]])
  }

  @Test("the key can be changed") func rekey() throws {
    let notes = try one.records("notes")
    try notes.put("a", ["n": 1])
    try devices.sync(one, nil)
    try devices.sync(two, nil)
    try one.rekey(devices.remote, user: devices.user, to: key)
    #expect(code { try devices.sync(two, nil) } == .unauthorized)
    let theirs = try two.records("notes")
    try theirs.put("b", ["n": 2])
    try devices.sync(two, key)
    try devices.sync(one, key)
    #expect(try notes.documents == ["a": ["n": 1], "b": ["n": 2]])
  }
}
