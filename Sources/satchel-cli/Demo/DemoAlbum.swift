import Satchel

/// The demo's photos: pictures that are computed, with the dates, the camera and the positions of a journey.
struct DemoAlbum {
  private let folder: String

  init(in folder: DemoFolder) throws { self.folder = try folder.folder("album") }

  /// Writes the photos, and finds them for the catalogue in a store.
  func write(to store: String) throws {
    for photo in Self.photos {
      // The date of the file is that of the photo, for a machine without libexif.
      try FileBytes.create("\(folder)/\(photo.name)", photo.file, modified: photo.taken)
    }
    let store = try Store(path: store)
    defer { try? store.close() }
    let photos = try store.photos(in: folder)
    _ = try photos.scan(options: ScanOptions())
    for photo in try photos.query().photos where Self.starred.contains(photo.photo.filename) {
      try photos.star(photo.md5)
    }
    try photos.close()
    try store.close()
  }

  private static let starred = ["douro-at-dusk.jpg", "dom-luis.jpg"]

  private static let photos = [
    DemoPhoto(
      name: "atlantic.jpg", taken: 1_780_168_020, latitude: 41.1790, longitude: -8.6912,
      scene: DemoScene(
        sky: [58, 92, 158], haze: [255, 189, 120], sun: (0.68, 0.50, 0.07), water: 0.56, sea: [30, 74, 110])),
    DemoPhoto(
      name: "ribeira.jpg", taken: 1_781_285_400, latitude: 41.1402, longitude: -8.6116,
      scene: DemoScene(
        sky: [92, 162, 222], haze: [214, 232, 242], sun: (0.12, 0.16, 0.05), water: 0.72, sea: [44, 92, 112],
        hills: [.init(height: 0.44, swing: 0.05, colour: [122, 152, 150])], houses: 14)),
    DemoPhoto(
      name: "douro-at-dusk.jpg", taken: 1_781_294_700, latitude: 41.1388, longitude: -8.6219,
      scene: DemoScene(
        sky: [66, 48, 110], haze: [255, 150, 92], sun: (0.42, 0.47, 0.06), water: 0.66, sea: [50, 42, 84],
        hills: [
          .init(height: 0.52, swing: 0.06, colour: [134, 84, 112]),
          .init(height: 0.59, swing: 0.04, colour: [70, 46, 78]),
        ])),
    DemoPhoto(
      name: "dom-luis.jpg", taken: 1_781_340_300, latitude: 41.1399, longitude: -8.6094,
      scene: DemoScene(
        sky: [70, 140, 210], haze: [228, 238, 240], sun: (0.84, 0.18, 0.05), water: 0.78,
        sea: [52, 104, 118],
        hills: [.init(height: 0.58, swing: 0.07, colour: [96, 128, 92])], hasBridge: true)),
    DemoPhoto(
      name: "sintra.jpg", taken: 1_782_896_400, latitude: 38.7876, longitude: -9.3906,
      scene: DemoScene(
        sky: [150, 186, 208], haze: [236, 240, 232], sun: (0.30, 0.22, 0.06), water: 1.1, sea: [0, 0, 0],
        hills: [
          .init(height: 0.46, swing: 0.10, colour: [164, 186, 178]),
          .init(height: 0.62, swing: 0.08, colour: [104, 142, 118]),
          .init(height: 0.78, swing: 0.06, colour: [48, 88, 62]),
        ])),
    DemoPhoto(
      name: "lisbon-by-night.jpg", taken: 1_783_203_900, latitude: 38.7110, longitude: -9.1290,
      scene: DemoScene(
        sky: [10, 14, 40], haze: [52, 48, 92], sun: (0.76, 0.20, 0.035), water: 0.80, sea: [12, 18, 40],
        hills: [.init(height: 0.60, swing: 0.05, colour: [24, 26, 54])], houses: 20, isNight: true)),
  ]
}

/// A photo of the demo: a picture with its date and position.
private struct DemoPhoto {
  var name: String
  /// Unix seconds.
  var taken: Int64
  var latitude: Double
  var longitude: Double
  var scene: DemoScene

  var file: [UInt8] {
    let exif = ExifBlock(taken: taken, latitude: latitude, longitude: longitude).bytes
    let image = JPEGImage(width: 480, height: 320, exif: exif)
    return image.encoded { column, row in scene.colour(Double(column) / 480, Double(row) / 320) }
  }
}

extension FileBytes {
  /// Creates a file.
  ///
  /// - Parameter modified: the time of the file, in Unix seconds
  fileprivate static func create(_ path: String, _ bytes: [UInt8], modified: Int64) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SatchelError(.io, "\(path.printable): \(reason(errno))") }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SatchelError(.io, "\(path.printable): \(reason(errno))") }
      rest = rest.dropFirst(count)
    }
    let time = timespec(tv_sec: Int(modified), tv_nsec: 0)
    guard futimens(descriptor, [time, time]) == 0 else {
      throw SatchelError(.io, "\(path.printable): \(reason(errno))")
    }
  }
}
