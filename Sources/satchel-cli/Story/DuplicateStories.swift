import Satchel

/// Finds stories of one directory that have the same id: an app that looks one up finds only one of them.
struct DuplicateStories {
  private struct Key: Hashable {
    var directory: FilePath
    /// Bytes, since texts that Unicode calls the same are different ids.
    var id: [UInt8]
  }

  private var names: [Key: String] = [:]

  /// Adds a warning to a file whose id an earlier file of its directory has.
  mutating func note(_ linted: inout LintedFile) {
    guard let id = linted.id, !linted.file.isStandardInput else { return }
    let key = Key(directory: linted.file.path.directory, id: Array(id.utf8))
    guard let other = names[key] else {
      names[key] = linted.file.name
      return
    }
    linted.add(
      StoryFinding(
        .duplicateStory, pointer: "/id", position: Self.position(of: linted.file),
        message: "\(other) holds a story with the id \"\(id)\" too"))
  }

  /// Where the file says its id. Read once more: it is seldom asked for.
  private static func position(of file: StoryFile) -> JSONPosition {
    let bytes = (try? file.bytes()) ?? []
    return bytes.withUnsafeBytes { text in
      guard let tape = try? JSONTape(text), let id = tape.member("id", of: tape.root) else {
        return StoryFile.start
      }
      return tape.position(id)
    }
  }
}
