import SatchelCore
import SatchelRemote
import SatchelStorage

/// Opens the files of photos, for their backups.
struct BackupFiles: Sendable {
  let root: PhotoRoot

  /// - Throws: `SatchelError` `.notFound` when the directory does not exist, `.invalid`, `.io`
  init(_ directory: String) throws { root = try PhotoRoot(directory) }

  /// Calls `body` with a photo's file, of several with its bytes with the first that still has them.
  ///
  /// - Parameters:
  ///   - paths: relative to the directory
  ///   - body: uploads the file, which is checked against the photo's MD5 while it is read
  /// - Throws: `SatchelError` `.notFound` or `.invalid` for the last path; the errors of `body`
  func withFile(of photo: Photo, at paths: [[UInt8]], _ body: (FileBody) throws -> Void) throws {
    var failure = SatchelError(
      .notFound, "no scan has found a file of the photo, and \"\(photo.filename)\" is not a file name")
    for path in paths {
      let text = String(decoding: path, as: UTF8.self)
      do {
        return try body(Self.open(text, in: root, size: photo.size, checksum: .md5(photo.md5.bytes)))
      } catch let fault as OpenFile.Fault {
        failure = SatchelError(fault.isAbsent ? .notFound : .invalid, "\(text): \(fault.reason)")
      } catch let error as ObjectStoreError where error.isOfFile {
        failure = SatchelError(.invalid, "\(text): \(Self.changed.reason)", underlying: error)
      }
    }
    throw failure
  }

  private static let changed = OpenFile.Fault(
    "does not have the bytes of the photo: it was changed since the last scan")

  /// Opens a film or a sidecar.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.invalid`
  func open(_ file: KnownFile) throws -> FileBody {
    let path = String(decoding: file.path, as: UTF8.self)
    do {
      return try Self.open(path, in: root, size: file.size, checksum: nil)
    } catch let fault as OpenFile.Fault {
      throw SatchelError(fault.isAbsent ? .notFound : .invalid, "\(path): \(fault.reason)")
    }
  }

  /// Opens a file below the directory, without following links.
  private static func open(
    _ path: String, in root: PhotoRoot, size: Int64, checksum: ContentChecksum?
  ) throws -> FileBody {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }) else {
      throw OpenFile.Fault("not a path below the directory")
    }
    var directory = try OpenFile.directory(".", in: root.file.number)
    for name in names.dropLast() {
      let next = try OpenFile.directory(String(name), in: directory.number)
      directory = next
    }
    let file = try OpenFile.file(String(names[names.count - 1]), in: directory.number)
    let stamp = try file.stamp()
    guard stamp.kind == .file else { throw OpenFile.Fault.special }
    guard stamp.size == size else { throw changed }
    return try FileBody(file.number, name: path, checksum: checksum)
  }
}
