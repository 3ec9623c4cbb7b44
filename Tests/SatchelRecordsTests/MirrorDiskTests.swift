import Foundation
import SatchelCore
import SatchelDocuments
import SatchelRecords
import SatchelStorage
import SatchelTesting
import Testing

@Suite("Mirrors on disk")
struct MirrorDiskTests {
  private func mirror(_ count: Int) -> MirrorFile {
    MirrorFile(
      collection: "c", version: 1,
      records: (0..<count).map {
        MirrorRecord(
          id: "r\($0)", revision: 1, created: 0, modified: 0, document: Array(#"{"n":\#($0)}"#.utf8))
      })
  }

  @Test("replace the old file, and leave no other file")
  func writeAndRead() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/courses.json"
    #expect(try MirrorFile.read(path, collection: "c") == nil)
    for count in [3, 0, 200] {
      try mirror(count).write(to: path)
      #expect(try MirrorFile.read(path, collection: "c") == mirror(count))
      #expect(try folder.files() == ["courses.json"])
    }
  }

  @Test("keep the permissions of the file")
  func permissions() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/m.json"
    try mirror(1).write(to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try mirror(2).write(to: path)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("at a symbolic link replace the file that it names, in its directory, and keep the link")
  func links() throws {
    let folder = try TemporaryDirectory()
    let (shared, link) = (folder.path + "/shared", folder.path + "/m.json")
    try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
    let second = folder.path + "/second.json"
    try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: "shared/m.json")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: second)
    // The first write creates the file, to which the links lead already.
    for count in [1, 3] {
      try mirror(count).write(to: link)
      #expect(try MirrorFile.read(shared + "/m.json", collection: "c") == mirror(count))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == second)
      #expect(try FileManager.default.contentsOfDirectory(atPath: shared) == ["m.json"])
    }
    // Links that lead to each other, and to a directory that does not exist.
    try FileManager.default.removeItem(atPath: second)
    try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: "m.json")
    #expect(throws: SatchelError.self) { try mirror(1).write(to: link) }
    try FileManager.default.removeItem(atPath: second)
    try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: "nowhere/m.json")
    #expect(throws: SatchelError.self) { try mirror(1).write(to: link) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == second)
  }

  @Test("reuse the part file of a killed writer, longer or shorter")
  func leftover() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/m.json"
    try Data(repeating: 0x78, count: 1_000_000).write(to: URL(filePath: path + ".part"))
    try mirror(5).write(to: path)
    #expect(try MirrorFile.read(path, collection: "c") == mirror(5))
    #expect(try folder.files() == ["m.json"])
  }

  @Test("that cannot be written leave the old file")
  func failedWrite() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/m.json"
    try mirror(2).write(to: path)
    // A directory at the path of the part file.
    try FileManager.default.createDirectory(atPath: path + ".part", withIntermediateDirectories: false)
    let refused = try #require(throws: SatchelError.self) { try mirror(3).write(to: path) }
    #expect(refused.code == .invalid)
    #expect(try MirrorFile.read(path, collection: "c") == mirror(2))
    let missing = try #require(throws: SatchelError.self) {
      try mirror(1).write(to: folder.path + "/none/m.json")
    }
    #expect(missing.code == .notFound)
    // A directory cannot be replaced by a file.
    try FileManager.default.createDirectory(atPath: folder.path + "/d", withIntermediateDirectories: false)
    #expect(throws: SatchelError.self) { try mirror(1).write(to: folder.path + "/d") }
    #expect(try folder.files() == ["m.json"])
  }

  @Test("that are damaged are rejected with line and column, and not changed")
  func damaged() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/m.json"
    try mirror(4).write(to: path)
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count / 2] ^= 0x10
    try bytes.write(to: URL(filePath: path))
    let error = try #require(throws: SatchelError.self) { try MirrorFile.read(path, collection: "c") }
    #expect(error.code == .invalid && error.message.hasPrefix("\(path): line "), "\(error)")
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    let other = try #require(throws: SatchelError.self) { try MirrorFile.read(folder.path, collection: "c") }
    #expect(other.code == .invalid)
  }

  @Test("that several threads write are always complete")
  func manyWriters() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/m.json"
    try mirror(1).write(to: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 1...4 {
        group.addTask { for turn in 0..<20 { try self.mirror(writer * 10 + turn % 3).write(to: path) } }
      }
      group.addTask {
        for _ in 0..<200 {
          let seen = try #require(try MirrorFile.read(path, collection: "c"))
          #expect(seen == self.mirror(seen.records.count))
        }
      }
      try await group.waitForAll()
    }
    #expect(try folder.files() == ["m.json"])
  }
}
