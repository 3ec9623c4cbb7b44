import SatchelCore

/// Which files and directories a scan leaves out.
///
/// Rules are written as those of Git: one pattern a line. `*` and `?` match within a name, `[…]` one character,
/// `**` any number of directories. A pattern with a slash before its end is relative to the directory of its
/// file, any other one matches names at any depth below. A slash at the end restricts it to directories; `!`
/// revokes an earlier rule, but nothing below a directory that is left out. Of several rules that match the
/// last one counts. Lines that are empty or begin with `#` are comments.
struct ScanRules: Sendable {
  /// The file with the rules of its directory.
  static let fileName = ".satchelignore"
  /// A file that says that its directory has nothing to look at, as Android defines it.
  static let emptyMarker = ".nomedia"
  /// The maximum size of a file of rules.
  static let maxSize = 1 << 20

  private var rules: [Rule] = []

  fileprivate struct Rule: Sendable {
    /// The names of a relative path; a single one matches names.
    var parts: [Glob]
    var isRelative: Bool
    /// The length of the paths' prefix that the pattern is relative to.
    var base: Int
    var isForDirectories: Bool
    var isException: Bool
  }

  /// Folders that systems, disks and apps keep for themselves, in which photos are copies, previews or rubbish;
  /// in lower case.
  private static let system = ScanRules(
    lines: Array(
      """
      @eadir/
      @recycle/
      @recently-snapshot/
      \\#recycle/
      \\#snapshot/
      $recycle.bin/
      recycler/
      system volume information/
      lost+found/
      __macosx/
      *.photoslibrary/
      *.photolibrary/
      *.aplibrary/
      *.migratedphotolibrary/
      *.lrdata/
      """.utf8))

  init() {}

  /// - Parameter lines: rules of the root
  init(lines: [UInt8]) { add(lines, base: 0) }

  /// - Parameters:
  ///   - lines: the text of a file of rules
  ///   - base: the length of the path of the file's directory, with a slash at its end
  mutating func add(_ lines: [UInt8], base: Int) {
    for line in lines.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      if let rule = Rule(line, base: base) { rules.append(rule) }
    }
  }

  /// Whether an item is left out; nil where no rule speaks of it.
  ///
  /// - Parameters:
  ///   - name: the last part of `path`
  ///   - prefix: the path of the item's directory, empty or with a slash at its end
  func excludes(_ name: [UInt8], in prefix: [UInt8], isDirectory: Bool) -> Bool? {
    for rule in rules.reversed() where isDirectory || !rule.isForDirectories {
      if rule.matches(name, in: prefix) { return !rule.isException }
    }
    return nil
  }

  /// Whether a directory is one that systems keep for themselves.
  static func isOfSystem(_ name: [UInt8]) -> Bool {
    system.excludes(FileName.lowercased(name), in: [], isDirectory: true) ?? false
  }
}

extension ScanRules.Rule {
  fileprivate init?(_ line: ArraySlice<UInt8>, base: Int) {
    var line = line
    // A backslash keeps a blank at the end, and a # or ! at the beginning.
    while line.last == UInt8(ascii: " "), line.dropLast().last != UInt8(ascii: "\\") { line.removeLast() }
    guard line.first != UInt8(ascii: "#") else { return nil }
    isException = line.first == UInt8(ascii: "!")
    if isException { line.removeFirst() }
    isForDirectories = line.last == UInt8(ascii: "/")
    isRelative = line.dropLast().contains(UInt8(ascii: "/"))
    let names = line.split(separator: UInt8(ascii: "/"))
    guard !names.isEmpty else { return nil }
    parts = names.map { Glob($0) }
    self.base = base
  }

  fileprivate func matches(_ name: [UInt8], in prefix: [UInt8]) -> Bool {
    guard isRelative else { return parts[0].matches(name) }
    var names = prefix.dropFirst(base).split(separator: UInt8(ascii: "/"))
    names.append(name[...])
    return Glob.matches(names[...], parts[...])
  }
}
