/// A condition of a passage, whose branches are being scanned.
struct TweeCondition {
  enum End {
    /// SugarCube: the closing tag of a macro.
    case tag(Range<Int>)
    /// Harlowe: the "]" that leaves this many hooks open.
    case hook(depth: Int)
    /// Chapbook: the next modifier.
    case modifier
    /// Snowman: the closing brace.
    case brace
  }

  var end: End
  /// Whether each of the ended branches offers a way on.
  var offersAll = true
  /// Whether the current branch offers one.
  var offers = false
  /// Whether one of the branches is chosen in any case.
  var hasElse = false
}

/// Notes whether a passage has a way on that depends on no condition. Conditions are not evaluated; one with an else,
/// each of whose branches has a way on, does not count.
extension TweeScanner {
  private static let maxConditions = 64
  /// The maximum distance of an else from what it belongs to.
  private static let maxGap = 1000

  /// Notes a way on.
  mutating func offer() {
    hasWayOn = true
    if conditions.isEmpty { hasSureWayOn = true } else { conditions[conditions.count - 1].offers = true }
  }

  mutating func beginCondition(
    _ end: TweeCondition.End, offers: Bool = false, offersAll: Bool = true, isElse: Bool = false
  ) {
    // Deeper ones are a part of the last one.
    guard conditions.count < Self.maxConditions else { return }
    conditions.append(TweeCondition(end: end, offersAll: offersAll, offers: offers, hasElse: isElse))
  }

  /// Begins the next branch of the last condition.
  mutating func beginBranch(isElse: Bool) {
    guard var condition = conditions.popLast() else { return }
    condition.offersAll = condition.offersAll && condition.offers
    condition.offers = false
    condition.hasElse = condition.hasElse || isElse
    conditions.append(condition)
  }

  /// Ends the last condition.
  mutating func endCondition() {
    guard let condition = conditions.popLast() else { return }
    if condition.hasElse, condition.offersAll, condition.offers { offer() }
  }

  /// Ends the scan: a condition that is not closed counts as none.
  mutating func endConditions() {
    if conditions.contains(where: { $0.offers }) { hasSureWayOn = true }
    conditions.removeAll(keepingCapacity: true)
  }

  // MARK: - SugarCube

  /// Follows the tags of `<<if>>` and `<<switch>>`.
  mutating func followCondition(_ name: Range<Int>) {
    func isOne(of names: StaticString...) -> Bool { names.contains { bytes.equals(name, $0) } }
    if isOne(of: "if") { beginCondition(.tag(name)) }
    // Nothing is displayed before its first case.
    if isOne(of: "switch") { beginCondition(.tag(name), offers: true) }
    if isOne(of: "elseif", "case") { beginBranch(isElse: false) }
    if isOne(of: "else", "default") { beginBranch(isElse: true) }
  }

  mutating func endCondition(of name: Range<Int>) {
    let isOpen = conditions.contains { condition in
      guard case .tag(let tag) = condition.end else { return false }
      return bytes.raw(tag).elementsEqual(bytes.raw(name))
    }
    guard isOpen else { return }
    while case .tag(let tag)? = conditions.last?.end {
      endCondition()
      if bytes.raw(tag).elementsEqual(bytes.raw(name)) { return }
    }
  }

  // MARK: - Harlowe

  /// Returns the condition whose hook follows `(if:)`, `(else-if:)` or `(else:)`. An else belongs to the condition
  /// before it.
  func condition(_ name: Range<Int>, at offset: Int) -> PendingHook.Kind {
    let isElse = matches(name, "else")
    guard isElse || matches(name, "elseif") else { return .condition(offersAll: true, isElse: false) }
    let isChained =
      chain.end > 0 && offset - chain.end < Self.maxGap
      && bytes.skipSpace(from: chain.end, to: offset) == offset
    return .condition(offersAll: isChained && chain.offersAll, isElse: isElse)
  }

  /// Ends the conditions whose hooks are closed.
  mutating func endHooks() {
    while let condition = conditions.last, case .hook(let depth) = condition.end, depth >= hookDepth {
      chain = (position, condition.offersAll && condition.offers)
      endCondition()
    }
  }

  // MARK: - Chapbook

  /// Follows a modifier: it ends the one before it.
  mutating func followModifier(_ names: Range<Int>) {
    func begins(_ word: StaticString) -> Bool {
      bytes.matches(word, at: names.lowerBound, to: names.upperBound)
    }
    if begins("else"), case .modifier? = conditions.last?.end { return beginBranch(isElse: true) }
    while case .modifier? = conditions.last?.end { endCondition() }
    if begins("if") || begins("unless") { beginCondition(.modifier) }
  }

  // MARK: - Snowman

  /// Follows the braces of a template.
  mutating func followBraces(_ template: Range<Int>) {
    var index = template.lowerBound
    while index < template.upperBound {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "{") { beginCondition(.brace) }
      guard byte == UInt8(ascii: "}"), case .brace? = conditions.last?.end else { continue }
      let word = bytes.skipSpace(from: index, to: min(template.upperBound, index + Self.maxGap))
      if bytes.matches("else", at: word, to: template.upperBound),
        let brace = bytes.find(
          UInt8(ascii: "{"), from: word, to: min(template.upperBound, word + Self.maxGap))
      {
        let condition = bytes.skipSpace(from: word + 4, to: brace)
        beginBranch(isElse: !bytes.matches("if", at: condition, to: brace))
        index = brace + 1
      } else {
        endCondition()
      }
    }
  }
}
