import CUTF8Proc

/// Splits texts of any script into words for the search, in lower case and without diacritics.
///
/// A word is a run of letters, digits and the marks of scripts in which marks are part of a word. In scripts
/// that are written without spaces a run is not a word: it is indexed by pairs of adjacent characters: any
/// part of the run is then a phrase of pairs.
package struct SearchTokenizer {
  /// A word, or a run of a script without spaces.
  package struct Word {
    /// In the composed form.
    package var scalars: ArraySlice<Int32>
    /// The position in the text, in scalars.
    package var start: Int
    /// The position after its last letter in the text, in scalars.
    package var end: Int
    package var isRun: Bool
  }

  private var scalars: [Int32] = []
  private var start = 0
  private var last = 0
  /// Whether the word has scalars that must be ordered and composed.
  private var isDecomposed = false
  /// Whether the marks that follow are diacritics.
  private var losesMarks = false
  private var parts = [Int32](repeating: 0, count: 32)

  /// Visits the words of a text in UTF-8. Invalid bytes separate words.
  package static func visit(_ text: UnsafeRawBufferPointer, _ body: (Word) -> Void) {
    var tokenizer = SearchTokenizer()
    var (index, position) = (0, 0)
    while index < text.count {
      let (scalar, length) = decode(text, at: index)
      tokenizer.add(scalar, at: position, body)
      index += length
      position += 1
    }
    tokenizer.end(body)
  }

  package static func visit(_ text: String, _ body: (Word) -> Void) {
    var text = text
    text.withUTF8 { visit(UnsafeRawBufferPointer($0), body) }
  }

  /// Returns the scalar at an index, U+FFFD for an invalid byte, and its number of bytes.
  private static func decode(_ text: UnsafeRawBufferPointer, at index: Int) -> (Int32, Int) {
    let lead = text[index]
    if lead < 0x80 { return (Int32(lead), 1) }
    let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
    guard lead >= 0xC2, lead < 0xF5, index + length <= text.count else { return (0xFFFD, 1) }
    var scalar = Int32(lead) & (0xFF >> Int32(length + 1))
    for offset in 1..<length {
      let byte = text[index + offset]
      guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
      scalar = scalar << 6 | Int32(byte & 0x3F)
    }
    return (scalar, length)
  }

  // MARK: Words

  private mutating func add(_ scalar: Int32, at position: Int, _ body: (Word) -> Void) {
    if scalar < 0x80 {
      let byte = UInt8(truncatingIfNeeded: scalar)
      switch byte {
      case 0x61...0x7A, 0x30...0x39: append(scalar, at: position)
      case 0x41...0x5A: append(scalar | 0x20, at: position)
      default: return end(body)
      }
      losesMarks = byte > 0x39
      return
    }
    if SearchScripts.isUnchanged(scalar) {
      append(scalar, at: position)
      losesMarks = false
      return
    }
    let options = utf8proc_option_t(
      UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_COMPAT.rawValue
        | UTF8PROC_CASEFOLD.rawValue | UTF8PROC_IGNORE.rawValue)
    var boundary: Int32 = 0
    let count = utf8proc_decompose_char(scalar, &parts, parts.count, options, &boundary)
    guard (1...parts.count).contains(count) else { return count == 0 ? () : end(body) }
    for index in 0..<count { addFolded(parts[index], at: position, body) }
    if count > 1 { isDecomposed = true }
  }

  private mutating func addFolded(_ scalar: Int32, at position: Int, _ body: (Word) -> Void) {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME:
      guard !scalars.isEmpty, !losesMarks else { return }
      append(scalar, at: position)
      isDecomposed = true
    case UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT, UTF8PROC_CATEGORY_LM,
      UTF8PROC_CATEGORY_LO, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO:
      // Some are letters: all kinds of apostrophes separate words, as the one of ASCII does.
      if LetterTable.isApostrophe(scalar) { return end(body) }
      let (base, second) = LetterTable.base(of: scalar)
      append(base, at: position)
      if second != 0 { append(second, at: position) }
      if LetterTable.isConjoining(scalar) { isDecomposed = true }
      losesMarks = LetterTable.losesMarks(scalar) || SearchScripts.hasOptionalMarks(scalar)
    // Joiners, soft hyphens and marks of direction are inside of words.
    case UTF8PROC_CATEGORY_CF: break
    default: end(body)
    }
  }

  private mutating func append(_ scalar: Int32, at position: Int) {
    if scalars.isEmpty { start = position }
    scalars.append(scalar)
    last = position
  }

  /// Ends the word, and divides it where its script changes between one with spaces and one without.
  private mutating func end(_ body: (Word) -> Void) {
    losesMarks = false
    guard !scalars.isEmpty else { return }
    if isDecomposed { scalars = NormalForm.composed(NormalForm.decomposed(scalars)) }
    var from = 0
    while from < scalars.count {
      let isRun = SearchScripts.hasNoSpaces(scalars[from])
      var to = from + 1
      while to < scalars.count, SearchScripts.hasNoSpaces(scalars[to]) == isRun { to += 1 }
      let end = to < scalars.count ? start + to : last + 1
      body(Word(scalars: scalars[from..<to], start: start + from, end: end, isRun: isRun))
      from = to
    }
    scalars.removeAll(keepingCapacity: true)
    isDecomposed = false
  }
}

// MARK: Tokens

extension SearchTokenizer {
  /// Appends the tokens of a text to a text of tokens for FTS5, separated by spaces: words, and of runs the
  /// pairs of adjacent characters and the last character, by which a single one is found.
  ///
  /// Words of ASCII are folded in place, without an array of scalars for each. A byte of ASCII that is no letter or digit
  /// ends every word, so that the text may be divided there.
  package static func appendTokens(of text: UnsafeRawBufferPointer, to tokens: inout [UInt8]) {
    var index = 0
    while index < text.count {
      var ascii = index
      while ascii < text.count, text[ascii] < 0x80 { ascii += 1 }
      var end = ascii
      // The last letters belong to a word with other characters.
      if ascii < text.count { while end > index, folded(text[end - 1]) != 0 { end -= 1 } }
      appendASCII(UnsafeRawBufferPointer(rebasing: text[index..<end]), to: &tokens)
      index = ascii
      while index < text.count, text[index] >= 0x80 || folded(text[index]) != 0 { index += 1 }
      if end < index { appendWords(UnsafeRawBufferPointer(rebasing: text[end..<index]), to: &tokens) }
    }
  }

  /// Appends the tokens of any text.
  static func appendWords(_ text: UnsafeRawBufferPointer, to tokens: inout [UInt8]) {
    visit(text) { word in
      guard word.isRun else { return append(word.scalars, to: &tokens) }
      for index in word.scalars.indices { append(word.scalars[index...].prefix(2), to: &tokens) }
    }
  }

  /// Appends the tokens of a text in ASCII.
  @_optimize(speed)
  private static func appendASCII(_ text: UnsafeRawBufferPointer, to tokens: inout [UInt8]) {
    guard !text.isEmpty else { return }
    let start = tokens.count
    tokens.append(contentsOf: text)
    tokens.append(UInt8(ascii: " "))
    let count = tokens.count
    let end = tokens.withUnsafeMutableBufferPointer { tokens in
      var (end, isInWord) = (start, false)
      for index in start..<count {
        let letter = folded(tokens[index])
        if letter != 0 {
          tokens[end] = letter
          end &+= 1
          isInWord = true
        } else if isInWord {
          tokens[end] = UInt8(ascii: " ")
          end &+= 1
          isInWord = false
        }
      }
      return end
    }
    tokens.removeLast(count - end)
  }

  /// Returns a letter or digit of ASCII in lower case; 0 for another byte.
  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 {
    let letter = byte | 0x20
    if letter &- 0x61 < 26 { return letter }
    return byte &- 0x30 < 10 ? byte : 0
  }

  /// Appends a token and a space.
  static func append(_ scalars: ArraySlice<Int32>, to tokens: inout [UInt8]) {
    for scalar in scalars {
      if scalar < 0x80 {
        tokens.append(UInt8(truncatingIfNeeded: scalar))
      } else if let scalar = Unicode.Scalar(UInt32(truncatingIfNeeded: scalar)),
        let bytes = UTF8.encode(scalar)
      {
        tokens.append(contentsOf: bytes)
      }
    }
    tokens.append(UInt8(ascii: " "))
  }
}
