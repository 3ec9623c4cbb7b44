/// Something in a passage's body that is not prose.
struct TweeMark {
  enum Kind: UInt8 {
    /// A link by brackets to a passage.
    case link
    /// A macro that leads to a passage, or shows it.
    case macro
    /// A link or macro whose target only playing tells.
    case jump
    /// A link to somewhere outside.
    case external
    /// A macro or comment that leads nowhere.
    case hidden
  }

  var kind: Kind
  var range: Range<Int>
  /// What is shown in its place; nil for nothing.
  var text: Range<Int>?
  var target: Range<Int>
  var isTextEscaped = false
  var isTargetEscaped = false

  init(_ kind: Kind, _ range: Range<Int>, text: Range<Int>? = nil, target: Range<Int> = 0..<0) {
    self.kind = kind
    self.range = range
    self.text = text
    self.target = target
  }
}
