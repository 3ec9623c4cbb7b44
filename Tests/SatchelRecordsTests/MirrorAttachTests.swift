import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Attaching mirrors")
struct MirrorAttachTests {
  private static func record(_ id: String, _ document: String) -> MirrorRecord {
    MirrorRecord(id: id, revision: 1, created: 0, modified: 0, document: Array(document.utf8))
  }

  private static func image(_ bytes: [UInt8]) -> MirrorImage {
    MirrorImage(bytes: bytes, digest: SHA256.digest(bytes).hexadecimal, stamp: MirrorImage.Stamp(stat()))
  }

  /// The decision in a word.
  private static func decision(
    _ file: [MirrorRecord], _ store: [MirrorRecord], _ mode: MirrorMode, isKnown: Bool = false,
    isEdited: Bool = false
  ) throws -> String {
    var bytes = try MirrorFile(collection: "c", version: 1, records: file).serialized()
    if isEdited { bytes[bytes.count / 2] ^= 1 }
    let image = image(bytes)
    let owner = ObjectIdentifier(MirrorAttachTests.self)
    let mirror = RecordMirror(
      path: "/x/c.json", .checksummed, mode, of: 1, named: "c", owner: owner)
    let memory = MirrorHistory(last: "else", before: isKnown ? image.digest : nil, state: "else")
    switch try MirrorDecision(image, memory, mirror: mirror, collection: "c", version: 1, records: { store })
    {
    case .write: return "write"
    case .importFile(_, let isWhole): return isWhole ? "take all" : "take"
    case .reject(_, let file): return file == nil ? "unread" : "refuse"
    }
  }

  @Test(
    "a file is overwritten only when the store has its records or wrote it, and imported only when it has the records of the store"
  )
  func decisions() throws {
    let (a, b, other) = (Self.record("a", "{}"), Self.record("b", "{}"), Self.record("a", #"{"n":1}"#))
    let cases: [([MirrorRecord], [MirrorRecord], String, String)] = [
      ([], [], "write", "write"), ([a], [a], "write", "write"), ([], [a], "write", "refuse"),
      ([a], [a, b], "write", "refuse"), ([a], [], "take", "take"), ([a, b], [a], "take", "take"),
      ([a], [b], "refuse", "refuse"), ([a], [other], "refuse", "refuse"),
      ([a, b], [other], "refuse", "refuse"), ([a], [other, b], "refuse", "refuse"),
    ]
    for (file, store, storeFirst, fileFirst) in cases {
      #expect(try Self.decision(file, store, .storeFirst) == storeFirst)
      #expect(try Self.decision(file, store, .fileFirst) == fileFirst)
      for mode in [MirrorMode.storeFirst, .fileFirst] {
        #expect(try Self.decision(file, store, mode, isKnown: true) == "write")
        #expect(try Self.decision(file, store, mode, isEdited: true) == "unread")
      }
    }
  }

  @Test(
    "with the file first, a file whose commit was never made is imported, unless another program has written since"
  )
  func interruptedCommit() throws {
    for (isAlone, format) in [
      (true, MirrorFormat.checksummed), (false, .checksummed), (true, .plain()), (false, .plain()),
      (true, .plain(idMember: "key")),
    ] {
      let shelf = try RecordShelf(onDisk: true)
      let folder = try #require(shelf.directory).path
      let courses = try shelf.collection("courses")
      try courses.put("c1", ["n": 1])
      try courses.put("c2", ["n": 2])
      try courses.mirror(folder + "/courses.json", format: format, mode: .fileFirst)
      try courses.put("c3", ["n": 3])
      // The store as an interrupted commit leaves it.
      _ = try shelf.database.backup(to: folder + "/before.satchel")
      try shelf.database.write { _ in
        try courses.put("c1", ["n": 11])
        try courses.delete("c2")
      }
      let database = try Database.open(
        path: folder + "/before.satchel", options: StoreOptions(),
        migrations: [Migration(version: 1, sql: ChangeLog.schema)])
      let before = RecordStore(database: database, outbox: Outbox(path: database.path))
      let again = try before.open(CollectionDeclaration("courses"))
      if isAlone {
        #expect(try again.mirror(folder + "/courses.json", format: format, mode: .fileFirst).imported == 2)
        #expect(try again.ids() == ["c1", "c3"] && again.get("c1")?.document == ["n": 11])
      } else {
        try again.put("c4", ["n": 4])
        #expect(
          message(.invalid) { try again.mirror(folder + "/courses.json", format: format, mode: .fileFirst) }
            .contains(
              "(c2, c4)"))
        #expect(try again.count() == 4)
      }
    }
  }

  @Test("a quarantined file replaces no other")
  func quarantine() throws {
    let shelf = try RecordShelf(onDisk: true)
    let folder = try #require(shelf.directory).path
    for text in ["one", "two", "three"] {
      try Data(text.utf8).write(to: URL(filePath: folder + "/m.json"))
      let target = try MirrorFile.quarantine(folder + "/m.json", time: 5)
      #expect(try Data(contentsOf: URL(filePath: target)) == Data(text.utf8))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("m.") }
    #expect(names.sorted() == ["m.json.quarantine-5", "m.json.quarantine-5-2", "m.json.quarantine-5-3"])
    #expect(throws: SatchelError.self) { _ = try MirrorFile.quarantine(folder + "/m.json", time: 5) }
  }
}
