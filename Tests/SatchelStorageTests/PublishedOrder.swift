import Foundation

/// Unicode's root order by its published table, as UTS #10 describes it and without regard to speed or size: what
/// `RootOrder` is compared with. Normal forms are those of Swift's standard library.
final class PublishedOrder: Sendable {
  typealias Element = [UInt16]

  /// The table of Debian's package unicode-data, which `make setup-tests` installs.
  static let shared = PublishedOrder("/usr/share/unicode/allkeys.txt")

  let version: String
  let entries: [[UInt32]: [Element]]
  private let implicit: [(range: ClosedRange<UInt32>, lead: UInt32)]

  private init(_ path: String) {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    var (version, entries) = ("", [[UInt32]: [Element]]())
    var implicit: [(ClosedRange<UInt32>, UInt32)] = []
    for line in text.split(separator: "\n") {
      let line = line.prefix { $0 != "#" }
      let parts = line.split { " ;.".contains($0) }
      if line.hasPrefix("@version") {
        version = String(line.dropFirst(9))
      } else if line.hasPrefix("@implicit") {
        implicit.append((Self.hex(parts[1])...Self.hex(parts[2]), Self.hex(parts[3])))
      } else if !line.isEmpty {
        let sides = line.split(separator: ";")
        let elements = sides[1].split { "[] ".contains($0) }.map { element in
          element.dropFirst().split(separator: ".").map { UInt16(Self.hex($0)) }
        }
        entries[sides[0].split(separator: " ").map(Self.hex)] = elements
      }
    }
    (self.version, self.entries, self.implicit) = (version, entries, implicit)
  }

  private static func hex(_ text: Substring) -> UInt32 { UInt32(text, radix: 16) ?? 0 }

  /// Returns the weights of each level.
  func levels(of text: String) -> [[UInt16]] {
    var scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
    var elements: [Element] = []
    while !scalars.isEmpty {
      var matched = 1
      for count in 2...3 where count <= scalars.count && entries[Array(scalars[..<count])] != nil {
        matched = count
      }
      var match = Array(scalars[..<matched])
      scalars.removeFirst(matched)
      // S2.1.1: marks that are not blocked.
      var (index, last) = (0, 0)
      while index < scalars.count {
        let order = Int(Unicode.Scalar(scalars[index])!.properties.canonicalCombiningClass.rawValue)
        if order == 0 { break }
        if order > last, entries[match + [scalars[index]]] != nil {
          match.append(scalars.remove(at: index))
        } else {
          last = order
          index += 1
        }
      }
      elements += entries[match] ?? self.implicit(match[0])
    }
    return (0..<3).map { level in elements.map { $0[level] }.filter { $0 != 0 } }
  }

  private func implicit(_ scalar: UInt32) -> [Element] {
    func elements(_ lead: UInt32, _ offset: UInt32) -> [Element] {
      [[UInt16(lead), 0x20, 2], [UInt16(offset | 0x8000), 0, 0]]
    }
    if let found = implicit.first(where: { $0.range.contains(scalar) }) {
      let origin = implicit.filter { $0.lead == found.lead }.map { $0.range.lowerBound }.min() ?? 0
      return elements(found.lead, scalar - origin)
    }
    let isCore =
      (0x4E00...0x9FFF).contains(scalar)
      || [
        0xFA0E, 0xFA0F, 0xFA11, 0xFA13, 0xFA14, 0xFA1F, 0xFA21, 0xFA23, 0xFA24, 0xFA27, 0xFA28, 0xFA29,
      ].contains(scalar)
    // The extensions of Unicode 15.
    let others: [ClosedRange<UInt32>] = [
      0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B739, 0x2B740...0x2B81D, 0x2B820...0x2CEA1,
      0x2CEB0...0x2EBE0, 0x30000...0x3134A, 0x31350...0x323AF,
    ]
    let lead: UInt32 = isCore ? 0xFB40 : others.contains { $0.contains(scalar) } ? 0xFB80 : 0xFBC0
    return elements(lead + scalar >> 15, scalar & 0x7FFF)
  }

  /// Whether the levels of a text precede those of another one: -1, or 1, or 0 for equal ones.
  static func compare(_ one: [[UInt16]], _ other: [[UInt16]]) -> Int {
    for (first, second) in zip(one, other) where first != second {
      return first.lexicographicallyPrecedes(second) ? -1 : 1
    }
    return 0
  }
}
