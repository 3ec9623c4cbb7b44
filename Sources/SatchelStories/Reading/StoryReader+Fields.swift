import SatchelJSON

/// Stores the values of fields in the table, and notes their faults.
extension StoryReader {
  mutating func store(_ value: Value, story field: StoryField) {
    guard hasExpectedType(value, field), value.kind != .null else { return }
    let slice = StorySlice(value.slice)
    table.header[field] = StoryTable.Value(slice: slice, isEscaped: value.isEscaped)
    switch field {
    case .title, .author, .synopsis: checkText(value, field)
    case .id:
      let id = resolvedSlice(value)
      if !StoryID.isName(table.text.string(id)) { note(.invalidID, at: offset(value), field) }
    default: break
    }
  }

  mutating func store(_ value: Value, segment field: StoryField) {
    guard hasExpectedType(value, field) else { return }
    switch field {
    case .id:
      segment.id = resolvedSlice(value)
      segment.idHash = hash(segment.id)
      segment.flags.insert(.hasID)
      checkID(value, field)
    case .text:
      segment.text = StorySlice(value.slice)
      if value.isEscaped { segment.flags.insert(.isTextEscaped) }
      segment.words = checkText(value, field)
    case .isAuthenticPath: if value.isTrue { segment.flags.insert(.isAuthentic) }
    case .isEnding: if value.isTrue { segment.flags.insert(.isMarkedEnding) }
    default: break
    }
  }

  mutating func store(_ value: Value, choice field: StoryField) {
    guard hasExpectedType(value, field) else { return }
    switch field {
    case .id:
      choice.id = resolvedSlice(value)
      choice.idHash = hash(choice.id)
      choice.flags.insert(.hasID)
      checkID(value, field)
    case .text:
      choice.text = resolvedSlice(value)
      choice.flags.insert(.hasText)
      checkText(value, field)
    case .nextSegmentId:
      choice.target = resolvedSlice(value)
      choice.targetHash = hash(choice.target)
      choice.flags.insert(.hasTarget)
    default: break
    }
  }

  /// Returns a slice with the bytes of a string, its escapes resolved.
  mutating func resolvedSlice(_ value: Value) -> StorySlice {
    value.isEscaped
      ? table.text.keep(JSONEscape.resolved(bytes(value.slice)), from: value.slice.start)
      : StorySlice(value.slice)
  }

  /// Returns the hash of an id, computed while its bytes are read anyway.
  private func hash(_ id: StorySlice) -> UInt32 { StoryIDTable.hash(table.text.bytes(id)) }

  /// Returns the offset of a value, including its quote.
  func offset(_ value: Value) -> UInt32 {
    UInt32(truncatingIfNeeded: value.kind == .string ? value.slice.start - 1 : value.slice.start)
  }

  /// Whether a value has the type of its field; notes a fault when it does not.
  @inline(__always)
  private mutating func hasExpectedType(_ value: Value, _ field: StoryField) -> Bool {
    let isRight =
      switch field.shape {
      case .text: value.kind == .string
      case .integer: value.kind == .integer
      case .flag: value.kind == .bool
      case .list: false
      }
    if isRight || (value.kind == .null && field.isOptional) { return true }
    note(.wrongType, at: offset(value), field)
    return false
  }

  /// Notes the required fields that an object lacks.
  mutating func noteMissing(
    _ required: StoryFields, _ present: StoryFields, of fields: [StoryField], at offset: UInt32
  ) {
    guard !present.isSuperset(of: required) else { return }
    for field in fields where required.subtracting(present).contains(StoryFields(field)) {
      // A story without the key has no segments, which is a fault with its own code.
      if field != .segments { note(.missingField, at: offset, field) }
    }
  }

  /// Notes a text without words.
  ///
  /// - Returns: the number of words
  @discardableResult
  private mutating func checkText(_ value: Value, _ field: StoryField) -> UInt32 {
    let words = WordCount.count(bytes(value.slice), isEscaped: value.isEscaped)
    if words == 0 { note(.emptyText, at: offset(value), field) }
    return UInt32(truncatingIfNeeded: words)
  }

  /// Notes an empty id.
  private mutating func checkID(_ value: Value, _ field: StoryField) {
    if value.slice.count == 0 { note(.invalidID, at: offset(value), field) }
  }

  mutating func note(_ code: StoryFinding.Code, at offset: UInt32, _ field: StoryField) {
    var fault = StoryFault(code: code, offset: offset, field: field)
    switch container {
    case .segments, .segment: fault.segment = Int32(truncatingIfNeeded: table.segments.count)
    case .choices, .choice:
      fault.segment = Int32(truncatingIfNeeded: table.segments.count)
      fault.choice = Int32(truncatingIfNeeded: table.choices.count)
    default: break
    }
    table.faults.append(fault)
  }
}

extension StoryReader.Value {
  fileprivate var isTrue: Bool { kind == .bool && slice.count == 4 }
}

extension StorySlice {
  /// A slice of the source.
  init(_ slice: JSONSlice) {
    self.init(start: UInt32(truncatingIfNeeded: slice.start), count: UInt32(truncatingIfNeeded: slice.count))
  }
}
