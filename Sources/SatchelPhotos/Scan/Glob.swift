/// A pattern of a name: `*`, `?` and `[…]`; a backslash takes the next byte as it is.
struct Glob: Sendable {
  private enum Step: Sendable, Equatable {
    case byte(UInt8)
    /// One character.
    case any
    /// Any number of bytes.
    case many
    case oneOf([ClosedRange<UInt8>], isInverted: Bool)
  }

  private var steps: [Step] = []
  /// `**`: any number of names.
  let isAnyDepth: Bool

  init(_ pattern: ArraySlice<UInt8>) {
    isAnyDepth = pattern.elementsEqual("**".utf8)
    var rest = pattern
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): if steps.last != .many { steps.append(.many) }
      case UInt8(ascii: "?"): steps.append(.any)
      case UInt8(ascii: "["): steps.append(Self.set(&rest) ?? .byte(byte))
      case UInt8(ascii: "\\"): steps.append(.byte(rest.popFirst() ?? byte))
      default: steps.append(.byte(byte))
      }
    }
  }

  /// Reads a set after its bracket; nil, and nothing is read, where no bracket closes it.
  private static func set(_ rest: inout ArraySlice<UInt8>) -> Step? {
    var inner = rest
    let isInverted = inner.first == UInt8(ascii: "!") || inner.first == UInt8(ascii: "^")
    if isInverted { inner.removeFirst() }
    var ranges: [ClosedRange<UInt8>] = []
    while let low = inner.popFirst() {
      if low == UInt8(ascii: "]"), !ranges.isEmpty {
        rest = inner
        return .oneOf(ranges, isInverted: isInverted)
      }
      var high = low
      if inner.first == UInt8(ascii: "-"), let next = inner.dropFirst().first, next != UInt8(ascii: "]") {
        inner.removeFirst(2)
        high = next
      }
      ranges.append(min(low, high)...max(low, high))
    }
    return nil
  }

  /// Whether the pattern matches a whole name; in time proportional to the product of their lengths.
  func matches(_ name: some RandomAccessCollection<UInt8>) -> Bool {
    let name = Array(name)
    var (position, step) = (0, 0)
    // Where the last star is, and up to where it reaches.
    var star: (step: Int, position: Int)?
    while position < name.count {
      if step < steps.count, steps[step] == .many {
        star = (step, position)
        step += 1
      } else if step < steps.count, let length = length(of: steps[step], in: name, at: position) {
        position += length
        step += 1
      } else if let last = star {
        star = (last.step, last.position + 1)
        (step, position) = (last.step + 1, last.position + 1)
      } else {
        return false
      }
    }
    return steps[step...].allSatisfy { $0 == .many }
  }

  /// Returns how many bytes a step takes; nil where it does not match.
  private func length(of step: Step, in name: [UInt8], at position: Int) -> Int? {
    switch step {
    case .byte(let byte): return name[position] == byte ? 1 : nil
    case .many: return nil
    case .any:
      // One character of UTF-8; of other bytes one.
      return 1 + name[(position + 1)...].prefix(3).prefix { $0 & 0xC0 == 0x80 }.count
    case .oneOf(let ranges, let isInverted):
      return ranges.contains { $0.contains(name[position]) } != isInverted ? 1 : nil
    }
  }

  /// Whether patterns match the names of a path, of which `**` takes any number.
  static func matches(_ names: ArraySlice<ArraySlice<UInt8>>, _ patterns: ArraySlice<Glob>) -> Bool {
    // The positions in `patterns` that the names so far can have reached.
    var reached = open([patterns.startIndex], patterns)
    for name in names {
      var next: Set<Int> = []
      for position in reached where position < patterns.endIndex {
        if patterns[position].isAnyDepth {
          next.insert(position)
        } else if patterns[position].matches(name) {
          next.insert(position + 1)
        }
      }
      reached = open(next, patterns)
      if reached.isEmpty { return false }
    }
    return reached.contains(patterns.endIndex)
  }

  /// Adds the positions after each `**`, which may take no name.
  private static func open(_ positions: Set<Int>, _ patterns: ArraySlice<Glob>) -> Set<Int> {
    var all = positions
    for position in positions {
      var next = position
      while next < patterns.endIndex, patterns[next].isAnyDepth {
        next += 1
        all.insert(next)
      }
    }
    return all
  }
}
