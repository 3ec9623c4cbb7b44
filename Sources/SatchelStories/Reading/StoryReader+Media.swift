import SatchelJSON

/// Reads the pictures and sounds that a story, a segment or a choice names.
extension StoryReader {
  /// Stores the paths of a member, and notes what is neither a path nor a reference to an asset.
  @inline(never)
  mutating func storeMedia(_ value: Value, _ field: StoryField) {
    switch value.kind {
    case .string: storePath(value, field, index: -1)
    case .object, .array:
      // The scanner has accepted the value.
      guard let tape = try? JSONTape(bytes(value.slice)) else { return }
      let root = tape.root
      if value.kind == .object {
        if !StoryAssets.isReference(root, in: tape) { note(.wrongType, at: offset(value), field) }
        return
      }
      for (index, element) in tape.children(of: root).enumerated() {
        store(element, of: tape, at: value.slice.start, field, index: Int32(truncatingIfNeeded: index))
      }
    default: break
    }
  }

  /// - Parameter start: the offset of the tape's text
  private mutating func store(
    _ element: Int, of tape: JSONTape, at start: Int, _ field: StoryField, index: Int32
  ) {
    let token = tape[element]
    let slice = JSONSlice(start + Int(token.start), start + Int(token.end))
    let value = Value(kind: token.kind, slice: slice, isEscaped: token.isEscaped)
    if token.kind == .string {
      storePath(value, field, index: index)
    } else if !StoryAssets.isReference(element, in: tape) {
      note(.wrongType, at: offset(value), field, detail: index)
    }
  }

  private mutating func storePath(_ value: Value, _ field: StoryField, index: Int32) {
    var file = StoryTable.NamedFile(
      path: resolvedSlice(value), start: Int(offset(value)), segment: -1, field: field)
    switch container {
    case .segment: file.segment = Int32(truncatingIfNeeded: table.segments.count)
    case .choice:
      file.segment = Int32(truncatingIfNeeded: table.segments.count)
      file.choice = Int32(truncatingIfNeeded: table.choices.count)
    default: break
    }
    file.index = index
    table.namedFiles.append(file)
  }
}
