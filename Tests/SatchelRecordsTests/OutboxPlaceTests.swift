import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("The location of the outbox file")
struct OutboxPlaceTests {
  @Test("is next to the store, also for a store opened through a symbolic link elsewhere")
  func link() throws {
    let folder = try TemporaryDirectory()
    let inside = folder.url.appending(path: "inside")
    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
    let store = inside.appending(path: "a.satchel")
    try Store(path: store.path).close()
    let link = folder.url.appending(path: "b.satchel")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)

    var options = StoreOptions()
    options.busyTimeout = 1
    let (writer, other) = (try Store(path: store.path), try Store(path: link.path, options: options))
    _ = try writer.records("notes")
    let notes = try other.records("notes")
    try writer.batch {
      let receipt = try notes.put("n1", ["text": "kept"])
      #expect(receipt.isSpooled)
      #expect(FileManager.default.fileExists(atPath: store.path + ".outbox"))
      #expect(!FileManager.default.fileExists(atPath: link.path + ".outbox"))
    }
    for each in [writer, other] { try each.close() }
    let kept = try Store(path: store.path).records("notes").get("n1")?.document
    #expect(kept == ["text": "kept"])
  }
}
