import SatchelCore
import SatchelJSON
import SatchelStories

/// A Twee story in several files, joined to one text, as compilers of Twee join them.
public struct TweeGame: Sendable {
  public private(set) var text: [UInt8] = []
  /// The files in the order of the text.
  package private(set) var files: [StoryTable.File] = []
  /// The directory of the files; nil when they were given as texts.
  package private(set) var folder: String?

  /// Joins files. Those whose name ends in `.js` are scripts.
  ///
  /// - Throws: `SatchelError` `.invalid` when the files have several passages `StoryData`, or there is no file
  public init(_ files: [(name: String, text: [UInt8])]) throws {
    var dataCount = 0
    for file in files {
      if Self.isScript(file.name) {
        append(Array(":: \(file.name.filter { !"\\[]{}\n\r".contains($0) }) [script]\n".utf8))
        // A line that starts with "::" would start a passage.
        for line in file.text.split(separator: 0x0A, omittingEmptySubsequences: false) {
          append((line.starts(with: "::".utf8) ? [0x20] : []) + line + [0x0A])
        }
        continue
      }
      if Self.hasStoryData(file.text) { dataCount += 1 }
      let hasMark = file.text.starts(with: StorySource.byteOrderMark)
      self.files.append(StoryTable.File(name: file.name, start: text.count, hasByteOrderMark: hasMark))
      append(file.text.dropFirst(hasMark ? 3 : 0))
      if text.last != 0x0A { append([0x0A]) }
    }
    guard dataCount < 2 else {
      throw SatchelError(
        .invalid,
        "a story in several files has one passage StoryData, and these \(files.count) files have \(dataCount)"
      )
    }
    guard !self.files.isEmpty else {
      throw SatchelError(.invalid, "there is no Twee file with passages, such as StoryData")
    }
  }

  /// Joins the Twee files and scripts below a directory, in the order of their names. Hidden names, links,
  /// `node_modules` and what its `.satchelignore` names are left out.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.io`; as `init(_:)`
  public init(directory: String) throws {
    try self.init(directory: directory, ignoring: StoryIgnore(directory: directory))
  }

  package init(directory: String, ignoring: StoryIgnore) throws {
    var found: [(name: String, text: [UInt8])] = []
    for name in try Self.names(below: directory, ignoring) {
      found.append((name, try Self.contents(of: "\(directory)/\(name)")))
    }
    try self.init(found)
    folder = directory
  }

  /// Joins a file in a directory, and the files below the directory that its passage `StoryIncludes` names.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.io`; as `init(_:)`
  package init(including name: String, directory: String) throws {
    var found = [(name: name, text: try Self.contents(of: "\(directory)/\(name)"))]
    var names = Self.includes(of: found[0].text)
    var seen: Set<String> = [name]
    while !names.isEmpty, found.count < Self.maxIncludes {
      let name = names.removeFirst()
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      guard StorySource.twee.isFormat(of: name),
        !parts.contains(where: { $0.isEmpty || $0.utf8.first == 0x2E }),
        seen.insert(name).inserted, let text = try? Self.contents(of: "\(directory)/\(name)")
      else { continue }
      names += Self.includes(of: text)
      found.append((name, text))
    }
    try self.init(found)
    folder = directory
  }

  private static let maxIncludes = 1000

  // MARK: - Passages that say what belongs together

  /// The passage of a file that marks the start of a story: the last of these is the clearest.
  package enum Mark: Int, Sendable {
    /// It has no passage, or only others.
    case none
    /// It has the passage that a story starts with.
    case start
    case includes
    case data
  }

  package static func mark(of text: [UInt8]) -> Mark {
    var mark = Mark.none
    forEachHeader(text) { bytes, name, _ in
      let found: Mark =
        bytes.equals(name, "StoryData")
        ? .data
        : bytes.equals(name, "StoryIncludes")
          || bytes.matches("@include ", at: name.lowerBound, to: name.upperBound)
          ? .includes : bytes.equals(name, "Start") ? .start : .none
      if found.rawValue > mark.rawValue { mark = found }
    }
    return mark
  }

  /// Whether a text has the passage StoryData, which a story has once.
  public static func hasStoryData(_ text: [UInt8]) -> Bool { mark(of: text) == .data }

  /// Whether a text is a published page, or an archive of stories.
  package static func storyCount(ofPage text: [UInt8]) -> Int {
    text.withUnsafeBytes { TwinePage.stories(TweeBytes(source: $0)).count }
  }

  /// Returns the paths in the passage StoryIncludes.
  package static func includes(of text: [UInt8]) -> [String] {
    var paths: [String] = []
    forEachHeader(text) { bytes, name, body in
      if bytes.matches("@include ", at: name.lowerBound, to: name.upperBound) {
        paths.append(bytes.string(bytes.trimmed(name.lowerBound + 9..<name.upperBound)))
      }
      guard bytes.equals(name, "StoryIncludes") else { return }
      for line in bytes.raw(body).split(separator: 0x0A) where !line.contains(0) {
        let path = TweeEscape.trimmed(String(decoding: line, as: UTF8.self))
        if !path.isEmpty { paths.append(path) }
      }
    }
    return paths
  }

  /// Calls `action` with the name and the body of each special passage, and perhaps others.
  private static func forEachHeader(_ text: [UInt8], _ action: (TweeBytes, Range<Int>, Range<Int>) -> Void) {
    text.withUnsafeBytes { text in
      let bytes = TweeBytes(source: text)
      var line = bytes[0] == 0xEF ? 3 : 0
      var passage: (name: Range<Int>, body: Int)?
      while line < bytes.count {
        let end = bytes.find(0x0A, from: line, to: bytes.count) ?? bytes.count
        if bytes[line] == UInt8(ascii: ":"), bytes[line + 1] == UInt8(ascii: ":") {
          if let passage { action(bytes, passage.name, passage.body..<line) }
          // Only the names of special passages matter, which start with one of these.
          let first = bytes[bytes.skipSpace(from: line + 2, to: end)]
          passage =
            first == UInt8(ascii: "S") || first == UInt8(ascii: "@")
            ? (TweeHeader(bytes, line: line..<end).name, min(end + 1, bytes.count)) : nil
        }
        line = end + 1
      }
      if let passage { action(bytes, passage.name, passage.body..<bytes.count) }
    }
  }

  private static func isScript(_ name: String) -> Bool { name.hasSuffix(".js") }

  private mutating func append(_ bytes: some Sequence<UInt8>) { text.append(contentsOf: bytes) }

  // MARK: - Files

  private static let maxDepth = 32

  private static func names(below root: String, _ ignoring: StoryIgnore) throws -> [String] {
    var names: [String] = []
    var directories = [""]
    while let directory = directories.popLast() {
      let path = directory.isEmpty ? root : "\(root)/\(directory)"
      guard let stream = opendir(path) else { throw SatchelError(errno: errno, path, denied: .io) }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard name.utf8.first != UInt8(ascii: ".") else { continue }
        let relative = directory.isEmpty ? name : "\(directory)/\(name)"
        var status = stat()
        guard lstat("\(root)/\(relative)", &status) == 0 else { continue }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        if ignoring.ignores(relative, isDirectory: isDirectory) { continue }
        if isDirectory {
          if relative.utf8.count(where: { $0 == UInt8(ascii: "/") }) < maxDepth {
            directories.append(relative)
          }
        } else if status.st_mode & S_IFMT == S_IFREG,
          StorySource.twee.isFormat(of: name) || isScript(name)
        {
          names.append(relative)
        }
      }
    }
    return names.ordered(by: StoryName.precedes)
  }

  /// Returns the content of a file.
  static func contents(of path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw SatchelError(errno: errno, path, denied: .io) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SatchelError(.io, "\(path): not a regular file")
    }
    guard Int(status.st_size) <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "\(path): larger than 2 GiB")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if more < 0, errno == EINTR { continue }
      if more < 0 { throw SatchelError(errno: errno, path, denied: .io) }
      if more == 0 { break }
      count += more
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
