import SatchelJSON

/// Stores the values of fields in the table, and notes their faults.
extension StoryReader {
  mutating func store(_ value: Value, story field: StoryField) {
    guard hasExpectedType(value, field), value.kind != .null else { return }
    if field.shape == .media { return storeMedia(value, field) }
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

  @inline(__always)
  mutating func store(_ value: Value, segment field: StoryField) {
    guard hasExpectedType(value, field) else { return }
    switch field {
    case .id:
      segment.id = resolvedSlice(value)
      segment.idHash = hash(of: segment.id)
      segment.flags.rawValue |= StoryTable.Flags.hasID.rawValue
      checkID(value, field)
    case .text:
      segment.text = StorySlice(value.slice)
      if value.isEscaped { segment.flags.rawValue |= StoryTable.Flags.isTextEscaped.rawValue }
      segment.words = checkText(value, field)
    case .isAuthenticPath: if value.isTrue { segment.flags.insert(.isAuthentic) }
    case .isEnding: if value.isTrue { segment.flags.insert(.isMarkedEnding) }
    case .image, .sound: storeMedia(value, field)
    case .entry: storeEntry(value)
    default: break
    }
  }

  @inline(__always)
  mutating func store(_ value: Value, choice field: StoryField) {
    guard hasExpectedType(value, field) else { return }
    switch field {
    case .id:
      choice.id = resolvedSlice(value)
      choice.idHash = hash(of: choice.id)
      choice.flags.rawValue |= StoryTable.ChoiceFlags.hasID.rawValue
      checkID(value, field)
    case .text:
      choice.text = resolvedSlice(value)
      choice.flags.rawValue |= StoryTable.ChoiceFlags.hasText.rawValue
      checkText(value, field)
    case .nextSegmentId:
      choice.target = resolvedSlice(value)
      choice.targetHash = hash(of: choice.target)
      choice.flags.rawValue |= StoryTable.ChoiceFlags.hasTarget.rawValue
    case .image, .sound: storeMedia(value, field)
    case .dynamic: if value.isTrue { choice.flags.insert(.isDynamic) }
    default: break
    }
  }

  /// Stores whether the segment may be entered from outside; the first one: whether all of them may.
  @inline(never)
  private mutating func storeEntry(_ value: Value) {
    guard value.kind == .string else { return }
    guard bytes(value.slice).elementsEqual("possible".utf8) else {
      return note(.wrongType, at: offset(value), .entry)
    }
    segment.flags.insert(.mayBeEntered)
    table.hasPossibleLinks = true
    if table.segments.isEmpty { table.hasOutsideLinks = true }
  }

  /// Notes the fields that a dynamic choice lacks. It may have no target, and no text when it is not offered.
  @inline(never)
  mutating func endDynamicChoice(_ present: StoryFields) {
    table.hasPossibleLinks = true
    let index = Int32(truncatingIfNeeded: table.choices.count)
    let first = (table.faults.lastIndex { $0.choice != index } ?? -1) + 1
    table.faults.replaceSubrange(first..., with: table.faults[first...].filter { $0.code != .emptyText })
    noteMissing(.requiredOfDynamicChoice, present, of: StoryField.ofChoice, at: choice.start)
  }

  /// Returns a slice with the bytes of a string, its escapes resolved.
  @inline(__always)
  mutating func resolvedSlice(_ value: Value) -> StorySlice {
    value.isEscaped ? keep(value) : StorySlice(value.slice)
  }

  /// Stores the bytes of a string with escapes.
  @inline(never)
  private mutating func keep(_ value: Value) -> StorySlice {
    table.text.keep(JSONEscape.resolved(bytes(value.slice)), from: value.slice.start)
  }

  /// Returns the hash of an id, computed while its bytes are read anyway.
  @inline(__always)
  private func hash(of id: StorySlice) -> UInt32 { hash(table.text.bytes(id)) }

  /// Returns the offset of a value, including its quote.
  func offset(_ value: Value) -> UInt32 {
    UInt32(truncatingIfNeeded: value.kind == .string ? value.slice.start - 1 : value.slice.start)
  }

  /// Whether a value has the type of its field; notes a fault when it does not.
  @inline(__always)
  private mutating func hasExpectedType(_ value: Value, _ field: StoryField) -> Bool {
    if case .string = value.kind, case .text = field.shape { return true }
    return hasExpectedOtherType(value, field)
  }

  @inline(never)
  private mutating func hasExpectedOtherType(_ value: Value, _ field: StoryField) -> Bool {
    switch (value.kind, field.shape) {
    case (.string, .text), (.integer, .integer), (.bool, .flag): return true
    case (.string, .media), (.object, .media), (.array, .media): return true
    case (.null, _) where field.isOptional: return true
    default:
      note(.wrongType, at: offset(value), field)
      return false
    }
  }

  /// Notes the required fields that an object lacks.
  @inline(__always)
  mutating func noteMissing(
    _ required: StoryFields, _ present: StoryFields, of fields: @autoclosure () -> [StoryField],
    at offset: UInt32
  ) {
    if required.rawValue & ~present.rawValue != 0 {
      note(required, without: present, of: fields(), at: offset)
    }
  }

  @inline(never)
  private mutating func note(
    _ required: StoryFields, without present: StoryFields, of fields: [StoryField], at offset: UInt32
  ) {
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

  mutating func note(
    _ code: StoryFinding.Code, at offset: UInt32, _ field: StoryField, detail: Int32 = -1
  ) {
    var fault = StoryFault(code: code, offset: offset, field: field, detail: detail)
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
