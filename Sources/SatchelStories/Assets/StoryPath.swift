/// A path by which a story names a file, by its bytes alone.
package enum StoryPath: Equatable {
  /// An address with a scheme, such as https or data, or of another host: it is not checked.
  case address
  /// The names of the directories and the file, below the folder of the story.
  case names([[UInt8]])
  /// An absolute path, or one that leads out of the folder of the story.
  case outside

  /// Whether a path is an address, which is not checked.
  package static func isAddress(_ path: some Collection<UInt8>) -> Bool { StoryPath(path) == .address }

  init(_ path: some Collection<UInt8>) {
    let path = Array(path)
    if path.starts(with: "//".utf8) {
      self = .address
      return
    }
    if let scheme = Self.scheme(path) {
      // A single letter is a drive.
      self = scheme.count == 1 || scheme.lowercased() == "file" ? .outside : .address
      return
    }
    guard path.first != UInt8(ascii: "/"), path.first != UInt8(ascii: "\\") else {
      self = .outside
      return
    }
    var names: [[UInt8]] = []
    for name in path.split(separator: UInt8(ascii: "/")) where !name.elementsEqual(".".utf8) {
      if !name.elementsEqual("..".utf8) {
        names.append(Array(name))
      } else if names.popLast() == nil {
        self = .outside
        return
      }
    }
    self = .names(names)
  }

  /// Returns the scheme of a URI (RFC 3986, 3.1); nil without one.
  private static func scheme(_ path: [UInt8]) -> String? {
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    guard let first = path.first, isLetter(first), let colon = path.firstIndex(of: UInt8(ascii: ":")) else {
      return nil
    }
    let scheme = path[..<colon]
    let isScheme = scheme.allSatisfy {
      isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
    }
    return isScheme ? String(decoding: scheme, as: UTF8.self) : nil
  }
}
