#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SatchelCore

/// The files and directories that are not searched for stories: `node_modules`, and what patterns name, as those of
/// git's `.gitignore` do.
package struct StoryIgnore: Sendable {
  private struct Rule {
    var pattern: String
    var isNegated = false
    var isForDirectories = false
    /// Whether it is compared with the path from the root, and not with the name.
    var isPath = false
    var crossesDirectories = false
  }

  private var rules: [Rule] = []

  /// The name of a file with patterns, in the directory that is searched.
  package static let fileName = ".satchelignore"

  /// - Parameters:
  ///   - directory: the one that is searched
  ///   - patterns: further ones, which count after those of its file
  package init(directory: String, patterns: [String] = []) {
    let text = (try? TweeGame.contents(of: "\(directory)/\(Self.fileName)")) ?? []
    for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
      + patterns.map({ Array($0.utf8)[...] })
    {
      if let rule = Self.rule(line) { rules.append(rule) }
    }
  }

  private static func rule(_ line: ArraySlice<UInt8>) -> Rule? {
    var text = line
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    guard let first = text.first, first != UInt8(ascii: "#") else { return nil }
    var rule = Rule(pattern: "")
    if first == UInt8(ascii: "!") {
      rule.isNegated = true
      text.removeFirst()
    }
    if text.last == slash {
      rule.isForDirectories = true
      text.removeLast()
    }
    rule.isPath = text.contains(slash)
    if text.first == slash { text.removeFirst() }
    // "**" stands for any directories.
    rule.crossesDirectories = zip(text, text.dropFirst()).contains { $0 == star && $1 == star }
    rule.pattern = String(decoding: text, as: UTF8.self)
    return text.isEmpty ? nil : rule
  }

  private static let slash = UInt8(ascii: "/")
  private static let star = UInt8(ascii: "*")

  /// Whether a path is not searched; the last rule that names it counts.
  ///
  /// - Parameter path: from the directory that is searched, with "/" between names
  package func ignores(_ path: String, isDirectory: Bool) -> Bool {
    let name =
      path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
    if isDirectory, name == "node_modules" { return true }
    var isIgnored = false
    for rule in rules where isDirectory || !rule.isForDirectories {
      let flags = rule.isPath && !rule.crossesDirectories ? FNM_PATHNAME : 0
      if fnmatch(rule.pattern, rule.isPath ? path : name, flags) == 0 { isIgnored = !rule.isNegated }
    }
    return isIgnored
  }
}
