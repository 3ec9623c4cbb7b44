import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

@Suite("Thumbnails of photos")
struct ThumbnailTests {
  private let directory: TemporaryDirectory
  private let store: Store
  private let photos: PhotoCatalogue

  init() throws {
    directory = try TemporaryDirectory()
    let folder = directory.path + "/photos"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(path: directory.path + "/album.satchel")
    photos = try store.photos(in: folder)
    let picture = Picture(width: 64, height: 32) { x, y in [UInt8(x * 4), UInt8(y * 8), 90] }
    try write(picture.png(), to: "map.png")
    // No decoder is at hand: its first bytes say what it is.
    try write(Array("\u{0}\u{0}\u{0}\u{18}ftypheic\u{0}\u{0}\u{0}\u{0}mif1heic".utf8), to: "tram.heic")
    try write(Array(picture.png().prefix(60)), to: "cut.png")
    _ = try photos.scan(options: ScanOptions())
  }

  private func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(photos.directory)/\(name)"))
  }

  private func photo(_ name: String) throws -> MD5 {
    try #require(try photos.query().photos.first { $0.photo.filename == name }).md5
  }

  @Test("of PNG are made by the library, although there is a function")
  func scaled() throws {
    let map = try photo("map.png")
    let made = try photos.thumbnail(of: map, longestEdge: 16) { _ in
      Issue.record("the function was called")
      return ([], nil)
    }
    #expect(made.type == "image/png")
    #expect(try Picture(decoding: store.assets.bytes(of: made)).width == 16)
    #expect(try photos.thumbnail(of: map, longestEdge: 16) == made)
  }

  @Test(
    "of other formats, and of damaged files, are made by a function of the app, once",
    arguments: ["tram.heic", "cut.png"])
  func made(name: String) throws {
    let (photo, calls) = (try photo(name), Locked(0))
    #expect(code { _ = try photos.thumbnail(of: photo, longestEdge: 16) } == .invalid)
    for _ in 0..<2 {
      let made = try photos.thumbnail(of: photo, longestEdge: 16) { path in
        calls.withLock { $0 += 1 }
        // It may use the store.
        let put = try store.assets.put(Array(path.utf8))
        #expect(put.size == Int64(path.utf8.count))
        #expect(path == "\(photos.directory)/\(name)")
        return ([1, 2, 3], "image/jpeg")
      }
      #expect(made.type == "image/jpeg" && made.size == 3)
    }
    #expect(calls.withLock { $0 } == 1)
    #expect(try store.assets.statistics().variants.count == 1)
  }

  @Test("that the function does not make are not there, and it is asked again")
  func failed() throws {
    struct NoDecoder: Error {}
    let tram = try photo("tram.heic")
    #expect(throws: NoDecoder.self) { try photos.thumbnail(of: tram) { _ in throw NoDecoder() } }
    #expect(code { _ = try photos.thumbnail(of: tram) { _ in ([1], "a\nb") } } == .invalid)
    #expect(try store.assets.statistics().variants.count == 0)
    #expect(try photos.thumbnail(of: tram) { _ in ([1], nil) }.size == 1)
  }

  @Test(
    "of a size below 1, of a photo that is unknown, and of a file that is gone are refused before the function is called"
  )
  func refused() throws {
    let tram = try photo("tram.heic")
    let unknown = try #require(MD5(String(repeating: "0", count: 32)))
    func make(_ path: String) -> (bytes: [UInt8], type: String?) {
      Issue.record("the function was called")
      return ([], nil)
    }
    #expect(code { _ = try photos.thumbnail(of: tram, longestEdge: 0, making: make) } == .invalid)
    #expect(code { _ = try photos.thumbnail(of: unknown, making: make) } == .notFound)
    try FileManager.default.removeItem(atPath: "\(photos.directory)/tram.heic")
    #expect(code { _ = try photos.thumbnail(of: tram, making: make) } == .notFound)
  }
}
