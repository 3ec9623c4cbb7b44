import Satchel

/// The demo's photos: drawn pictures with the dates, the camera and the positions of a journey. They are part
/// of the program, because the installed tool is one file.
struct DemoAlbum {
  private let folder: String

  init(in folder: DemoFolder) throws { self.folder = try folder.folder("album") }

  /// Writes the photos, and finds them for the catalogue in a store.
  func write(to store: String) throws {
    for photo in Self.photos {
      // The time of the file is that of the photo.
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
    DemoPhoto(name: "atlantic.jpg", taken: 1_780_168_020, file: PackageResources.atlantic_jpg),
    DemoPhoto(name: "ribeira.jpg", taken: 1_781_285_400, file: PackageResources.ribeira_jpg),
    DemoPhoto(name: "douro-at-dusk.jpg", taken: 1_781_294_700, file: PackageResources.douro_at_dusk_jpg),
    DemoPhoto(name: "dom-luis.jpg", taken: 1_781_340_300, file: PackageResources.dom_luis_jpg),
    DemoPhoto(name: "sintra.jpg", taken: 1_782_896_400, file: PackageResources.sintra_jpg),
    DemoPhoto(name: "lisbon-by-night.jpg", taken: 1_783_203_900, file: PackageResources.lisbon_by_night_jpg),
  ]
}

/// A photo of the demo, one of the files in Photos.
private struct DemoPhoto {
  var name: String
  /// Unix seconds, as the file's EXIF data have them.
  var taken: Int64
  var file: [UInt8]
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
