import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Where the spill file is")
struct SpillPlaceTests {
  @Test("beside the store, also for one that was opened by a link from elsewhere")
  func link() throws {
    let folder = try TemporaryDirectory()
    let inside = folder.url.appending(path: "inside")
    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
    let store = inside.appending(path: "a.satchel")
    try Satchel(path: store.path).close()
    let link = folder.url.appending(path: "b.satchel")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store)

    var options = StoreOptions()
    options.busyTimeout = 1
    let (writer, other) = (try Satchel(path: store.path), try Satchel(path: link.path, options: options))
    _ = try writer.records("notes")
    let notes = try other.records("notes")
    try writer.batch {
      let receipt = try notes.put("n1", ["text": "kept"])
      #expect(receipt.isSpilled)
      #expect(FileManager.default.fileExists(atPath: store.path + ".spill"))
      #expect(!FileManager.default.fileExists(atPath: link.path + ".spill"))
    }
    for each in [writer, other] { try each.close() }
    let kept = try Satchel(path: store.path).records("notes").get("n1")?.document
    #expect(kept == ["text": "kept"])
  }
}
