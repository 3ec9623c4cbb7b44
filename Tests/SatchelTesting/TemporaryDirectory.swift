import Foundation

/// A directory of its own for one test, removed with it; what something still held open then, when all tests are over.
package final class TemporaryDirectory: Sendable {
  static let all: URL = {
    atexit { try? FileManager.default.removeItem(at: TemporaryDirectory.all) }
    return FileManager.default.temporaryDirectory.appending(path: "satchel-tests-\(UUID().uuidString)")
  }()

  package let url: URL
  package var path: String { url.path(percentEncoded: false) }

  package init() throws {
    url = Self.all.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Makes a directory in memory, where that is possible: no inode number is used again there.
  package init(inMemory: Void) throws {
    let memory = "/dev/shm"
    let isThere = FileManager.default.isWritableFile(atPath: memory)
    let folder = isThere ? URL(filePath: memory, directoryHint: .isDirectory) : Self.all
    url = folder.appending(path: "satchel-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Relative paths of all files, sorted.
  package func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }.sorted()
  }

  package func write(_ text: String, to name: String) throws {
    let place = url.appending(path: name)
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: place)
  }
}
