import SatchelJSON

extension Template where Target == SectionTarget {
  /// Returns the template for a place that the content was not delivered for: its entities and the containers
  /// that hold them. Content without `_storage` is visible only at the place that it was delivered for.
  func containersOnly() throws -> Template {
    try bytes.withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      let direct = placeholders.filter { $0.offset != PlaceholderCoding.nested }
      var filter = ContainerFilter(tape: tape, placeholders: direct)
      if !direct.isEmpty { filter.keep(tape.root, prefix: 0) }
      filter.result.placeholders += placeholders.filter { $0.offset == PlaceholderCoding.nested }
      return filter.result
    }
  }
}

/// Copies the containers of a template that hold placeholders.
private struct ContainerFilter {
  let tape: JSONTape
  /// Sorted by offset.
  let placeholders: [Template<SectionTarget>.Placeholder]
  var result = Template<SectionTarget>()

  /// The index of the first placeholder at or after an offset.
  private func firstPlaceholder(from offset: Int) -> Int {
    var (low, high) = (0, placeholders.count)
    while low < high {
      let middle = (low + high) / 2
      if placeholders[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func containsPlaceholder(_ index: Int) -> Bool {
    let first = firstPlaceholder(from: Int(tape[index].start))
    return first < placeholders.count && placeholders[first].offset < Int(tape[index].end)
  }

  mutating func keep(_ index: Int, prefix: Int) {
    let token = tape[index]
    guard token.kind == .object || token.kind == .array else {
      let placeholder = placeholders[firstPlaceholder(from: Int(token.start))]
      result.placeholders.append(
        .init(offset: result.bytes.count, prefix: prefix, target: placeholder.target))
      result.bytes.append(UInt8(ascii: "0"))
      return
    }
    let isObject = token.kind == .object
    result.bytes.append(UInt8(ascii: isObject ? "{" : "["))
    var isFirst = true
    for child in tape.children(of: index) where containsPlaceholder(child) {
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
