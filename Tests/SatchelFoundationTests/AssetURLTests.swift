import Foundation
import Satchel
import SatchelFoundation
import SatchelTesting
import Testing

@Suite("Assets and URLs")
struct AssetURLTests {
  @Test("a file is put by its URL, and an open asset has one")
  func files() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(path: directory.path + "/a.satchel")
    let file = URL(filePath: directory.path + "/a picture é.jpg")
    let data = Data(repeating: 7, count: 100_000)
    try data.write(to: file)
    let asset = try store.assets.put(contentsOf: file, type: "image/jpeg")
    let reader = try store.assets.open(asset)
    #expect(try reader.url.map { try Data(contentsOf: $0) } == data)
    #expect(try store.assets.open(store.assets.put([1])).url == nil)
  }

  @Test("a URL that is no file's is refused")
  func noFile() throws {
    let store = try Store(path: ":memory:")
    let url = try #require(URL(string: "https://example.org/a"))
    let error = #expect(throws: SatchelError.self) { try store.assets.put(contentsOf: url) }
    #expect(error?.code == .invalid)
  }
}
