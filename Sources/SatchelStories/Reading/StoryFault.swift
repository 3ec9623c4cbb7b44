/// A finding before it is put into words: small, so that a million of them are no burden.
struct StoryFault {
  var code: StoryFinding.Code
  /// Byte offset in the source.
  var offset: UInt32
  /// Index of the segment, of the choice among all choices of the story; -1 for none.
  var segment: Int32 = -1
  var choice: Int32 = -1
  var field: StoryField?
  /// What the code's message needs besides: an index, a count.
  var detail: Int32 = -1
  /// The severity, where it is not the code's usual one.
  var isMilder = false

  var severity: StoryFinding.Severity { isMilder ? .warning : code.severity }
}
