import SatchelJSON

extension Template where Target == SectionTarget {
  /// The template as a place sees it that the content was not delivered for: its entities and the containers
  /// that hold them. What has no `_storage` belongs to the place it came with.
  func containersOnly() throws -> Template {
    try bytes.withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      let direct = holes.filter { $0.offset != HoleCoding.nested }
      var filter = ContainerFilter(tape: tape, holes: direct)
      if !direct.isEmpty { filter.keep(tape.root, prefix: 0) }
      filter.result.holes += holes.filter { $0.offset == HoleCoding.nested }
      return filter.result
    }
  }
}

private struct ContainerFilter {
  let tape: JSONTape
  /// In the order of their offsets.
  let holes: [Template<SectionTarget>.Hole]
  var result = Template<SectionTarget>()

  /// The first hole at or behind an offset.
  private func firstHole(from offset: Int) -> Int {
    var (low, high) = (0, holes.count)
    while low < high {
      let middle = (low + high) / 2
      if holes[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func holdsHole(_ index: Int) -> Bool {
    let first = firstHole(from: Int(tape[index].start))
    return first < holes.count && holes[first].offset < Int(tape[index].end)
  }

  mutating func keep(_ index: Int, prefix: Int) {
    let token = tape[index]
    guard token.kind == .object || token.kind == .array else {
      let hole = holes[firstHole(from: Int(token.start))]
      result.holes.append(.init(offset: result.bytes.count, prefix: prefix, target: hole.target))
      result.bytes.append(UInt8(ascii: "0"))
      return
    }
    let isObject = token.kind == .object
    result.bytes.append(UInt8(ascii: isObject ? "{" : "["))
    var isFirst = true
    for child in tape.children(of: index) where holdsHole(child) {
      if !isFirst { result.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      let before = result.bytes.count
      if isObject {
        tape.copy(child - 1, to: &result.bytes)
        result.bytes.append(UInt8(ascii: ":"))
      }
      keep(child, prefix: result.bytes.count - before)
    }
    result.bytes.append(UInt8(ascii: isObject ? "}" : "]"))
  }
}
