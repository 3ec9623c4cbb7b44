import Foundation
import Satchel
import Synchronization

/// The thumbnails of an album: each is made once, and kept in the store among its assets. The library scales JPEG and
/// PNG. The thumbnails of other formats are made by a function of the app, here that of HEIC, which stands for the
/// decoder of the system. Usage: gallery folder, of photos
@main
struct Gallery {
  /// The time of day in milliseconds, so that hours can pass.
  static let now = Atomic<Int64>(1_790_000_000_000)

  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("Usage: gallery folder, of photos\n".utf8))
      exit(2)
    }
    var options = StoreOptions()
    options.clock = Clock { Self.now.load(ordering: .relaxed) }
    let store = try Store(path: ":memory:", options: options)
    let photos = try store.photos(in: CommandLine.arguments[1])
    var thumbnails = Thumbnails(store: store, photos: photos)

    print("Found \(try photos.scan(options: ScanOptions()).added) photos. Their thumbnails:")
    for line in try thumbnails.make() { print("  \(line)") }
    print("The app made \(thumbnails.converted) of them.")
    _ = try thumbnails.make()
    print("Shown again, none is made: the app has still made \(thumbnails.converted).")

    now.wrappingAdd(2 * 3600 * 1000, ordering: .relaxed)
    // A budget of no bytes: what can be made again goes first, and goes after an hour at the earliest.
    let report = try store.assets.prune(maxBytes: 0)
    print(
      "\nThe disk is nearly full: \(report.removed) thumbnails are removed, \(report.bytes) bytes are left.")
    _ = try thumbnails.make()
    print("When they are needed they are made again: the app has made \(thumbnails.converted).")
    try photos.close()
    try store.close()
  }
}

/// The thumbnails of a catalogue.
struct Thumbnails {
  let store: Store
  let photos: PhotoCatalogue
  /// The number of photos that the app's function was asked for.
  var converted = 0
  /// The longer edge, in pixels.
  private let edge = 64

  init(store: Store, photos: PhotoCatalogue) { (self.store, self.photos) = (store, photos) }

  /// Makes those that are not there, and returns a line for each.
  mutating func make() throws -> [String] {
    var query = PhotoQuery()
    query.order = .filename
    var lines: [String] = []
    for photo in try photos.query(query).photos.map(\.photo) {
      var asked = 0
      // Stands for a decoder: the first bytes of the file are its thumbnail.
      let thumbnail = try photos.thumbnail(of: photo.md5, longestEdge: edge) { path in
        asked += 1
        return (try Array(Data(contentsOf: URL(fileURLWithPath: path)).prefix(12)), "image/heic")
      }
      converted += asked
      let isSmaller = try store.assets.bytes(of: thumbnail).count < photo.size
      let name = photo.filename.padding(toLength: 20, withPad: " ", startingAt: 0)
      lines.append("\(name)  \(thumbnail.type ?? ""), \(isSmaller ? "smaller" : "as large")")
    }
    return lines
  }
}
