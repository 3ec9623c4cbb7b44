import SatchelJSON

/// What the values of a story's fields become, and what is noted of them.
extension StoryReader {
  mutating func take(_ value: Value, story field: StoryField) {
    guard fits(value, field), value.kind != .null else { return }
    let slice = StorySlice(value.slice)
    table.header[field] = StoryTable.Value(slice: slice, isEscaped: value.isEscaped)
    switch field {
    case .title, .author, .synopsis: checkText(value, field)
    case .id:
      let id = kept(value)
      if !StoryID.isName(table.text.string(id)) { note(.invalidID, at: offset(value), field) }
    default: break
    }
  }

  mutating func take(_ value: Value, segment field: StoryField) {
    guard fits(value, field) else { return }
    switch field {
    case .id:
      segment.id = kept(value)
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

  mutating func take(_ value: Value, choice field: StoryField) {
    guard fits(value, field) else { return }
    switch field {
    case .id:
      choice.id = kept(value)
      choice.idHash = hash(choice.id)
      choice.flags.insert(.hasID)
      checkID(value, field)
    case .text:
      choice.text = kept(value)
      choice.flags.insert(.hasText)
      checkText(value, field)
    case .nextSegmentId:
      choice.target = kept(value)
      choice.targetHash = hash(choice.target)
      choice.flags.insert(.hasTarget)
    default: break
    }
  }

  /// A slice whose bytes are the text: escapes resolved.
  mutating func kept(_ value: Value) -> StorySlice {
    value.isEscaped
      ? table.text.keep(JSONEscape.resolved(bytes(value.slice)), from: value.slice.start)
      : StorySlice(value.slice)
  }

  /// Of an id, while its bytes are at hand.
  private func hash(_ id: StorySlice) -> UInt32 { StoryIDTable.hash(table.text.bytes(id)) }

  /// Where a value begins, its quote included.
  func offset(_ value: Value) -> UInt32 {
    UInt32(truncatingIfNeeded: value.kind == .string ? value.slice.start - 1 : value.slice.start)
  }

  /// Whether a value is what its field takes; notes it when it is not.
  @inline(__always)
  private mutating func fits(_ value: Value, _ field: StoryField) -> Bool {
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
  mutating func missing(
    _ required: StoryFields, _ present: StoryFields, of fields: [StoryField], at offset: UInt32
  ) {
    guard !present.isSuperset(of: required) else { return }
    for field in fields where required.subtracting(present).contains(StoryFields(field)) {
      // A story without the key has no segment, which has a code of its own.
      if field != .segments { note(.missingField, at: offset, field) }
    }
  }

  /// Notes a text without a word.
  ///
  /// - Returns: how many words it has.
  @discardableResult
  private mutating func checkText(_ value: Value, _ field: StoryField) -> UInt32 {
    let words = WordCount.count(bytes(value.slice), isEscaped: value.isEscaped)
    if words == 0 { note(.emptyText, at: offset(value), field) }
    return UInt32(truncatingIfNeeded: words)
  }

  /// Notes an id that names nothing.
  private mutating func checkID(_ value: Value, _ field: StoryField) {
    if value.slice.count == 0 { note(.invalidID, at: offset(value), field) }
  }

  mutating func note(_ code: StoryFinding.Code, at offset: UInt32, _ field: StoryField) {
    var fault = StoryFault(code: code, offset: offset, field: field)
    switch place {
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
