import Foundation

/// A directory of its own for one test, removed with it.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "satchel-remote-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Relative paths of all files, sorted.
  package func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }.sorted()
  }

  package func write(_ text: String, to name: String) throws {
    let place = URL(filePath: path).appending(path: name)
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: place)
  }
}
