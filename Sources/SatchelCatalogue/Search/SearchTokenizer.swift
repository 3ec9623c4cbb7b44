import CUTF8Proc
import SatchelCore

/// Splits texts of any script into words for the search, in lower case and without diacritics.
///
/// A word is a run of letters, digits and the marks of scripts in which marks are part of a word. In scripts
/// that are written without spaces a run is no word, so that it is indexed by pairs of adjacent characters: any
/// part of the run is then a phrase of pairs.
struct SearchTokenizer {
  /// A word, or a run of a script without spaces.
  struct Word {
    /// In the composed form.
    var scalars: ArraySlice<Int32>
    /// The position in the text, in scalars.
    var start: Int
    var isRun: Bool
  }

  private var scalars: [Int32] = []
  private var start = 0
  /// Whether the word has scalars that must be ordered and composed.
  private var isDecomposed = false
  /// Whether the marks that follow are diacritics.
  private var losesMarks = false
  private var parts = [Int32](repeating: 0, count: 32)

  /// Visits the words of a text in UTF-8. Invalid bytes separate words.
  static func visit(_ text: UnsafeRawBufferPointer, _ body: (Word) -> Void) {
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

  static func visit(_ text: String, _ body: (Word) -> Void) {
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
        | UTF8PROC_CASEFOLD.rawValue)
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
      for base in SearchScripts.base(of: scalar) { append(base, at: position) }
      losesMarks = LetterTable.losesMarks(scalar) || SearchScripts.hasOptionalMarks(scalar)
    // Joiners, soft hyphens and marks of direction are inside of words.
    case UTF8PROC_CATEGORY_CF: break
    default: end(body)
    }
  }

  private mutating func append(_ scalar: Int32, at position: Int) {
    if scalars.isEmpty { start = position }
    scalars.append(scalar)
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
      body(Word(scalars: scalars[from..<to], start: start + from, isRun: isRun))
      from = to
    }
    scalars.removeAll(keepingCapacity: true)
    isDecomposed = false
  }
}

/// The properties of scripts that the search depends on.
enum SearchScripts {
  /// Whether a scalar is already composed, in lower case and a letter: of Chinese, Japanese and Korean texts.
  static func isUnchanged(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
    default: false
    }
  }

  /// Whether a scalar belongs to a script that is written without spaces between words.
  static func hasNoSpaces(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x0E00...0x0EFF,  // Thai, Lao
      0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F,  // Myanmar
      0x1780...0x17FF, 0x19E0...0x19FF,  // Khmer
      0x1950...0x19DF, 0x1A20...0x1AAF,  // Tai Le, New Tai Lue, Tai Tham
      0x3005...0x3007, 0x3021...0x3029, 0x3031...0x303C, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xF900...0xFAFF, 0x20000...0x3FFFF,  // Chinese
      0x3040...0x30FF, 0x31F0...0x31FF, 0x1AFF0...0x1B16F:  // Japanese
      true
    default: false
    }
  }

  /// Whether the marks after a letter are optional: the points of Hebrew, the vowels of Arabic.
  static func hasOptionalMarks(_ scalar: Int32) -> Bool {
    (0x05D0...0x05F2).contains(scalar) || (0x0620...0x06FF).contains(scalar)
      || (0x0750...0x077F).contains(scalar)
  }

  /// Returns the letters that people type for one with a stroke or ligature, which has no decomposition.
  static func base(of scalar: Int32) -> [Int32] {
    switch scalar {
    case 0x00E6: [0x61, 0x65]  // æ
    case 0x00F8: [0x6F]  // ø
    case 0x0111: [0x64]  // đ
    case 0x0127: [0x68]  // ħ
    case 0x0131: [0x69]  // ı
    case 0x0142: [0x6C]  // ł
    case 0x0153: [0x6F, 0x65]  // œ
    case 0x0167: [0x74]  // ŧ
    default: [scalar]
    }
  }
}

// MARK: Tokens

extension SearchTokenizer {
  /// Appends the tokens of a text to a text of tokens for FTS5, separated by spaces: words, and of runs the
  /// pairs of adjacent characters and the last character, by which a single one is found.
  static func appendTokens(of text: UnsafeRawBufferPointer, to tokens: inout [UInt8]) {
    visit(text) { word in
      guard word.isRun else { return append(word.scalars, to: &tokens) }
      for index in word.scalars.indices { append(word.scalars[index...].prefix(2), to: &tokens) }
    }
  }

  /// Appends a token and a space.
  fileprivate static func append(_ scalars: ArraySlice<Int32>, to tokens: inout [UInt8]) {
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

/// The words of a search.
struct SearchQuery {
  /// A word that begins a word of the text, or a part of a run.
  struct Term: Hashable {
    var scalars: [Int32]
    var isRun: Bool
  }

  /// The maximum number of words, and of characters of a run.
  static let maxCount = 64

  var terms: [Term] = []

  /// - Throws: `.invalid` for too many words
  init(_ text: String) throws {
    var terms: [Term] = []
    SearchTokenizer.visit(text) { word in
      let term = Term(scalars: Array(word.scalars), isRun: word.isRun)
      if !terms.contains(term) { terms.append(term) }
    }
    guard terms.count <= Self.maxCount, terms.allSatisfy({ !$0.isRun || $0.scalars.count <= Self.maxCount })
    else {
      throw SatchelError(
        .invalid, "text: a search has at most \(Self.maxCount) words, and a run as many characters")
    }
    self.terms = terms
  }

  /// The query for FTS5: all terms must match, a word as a prefix and a part of a run as a phrase of pairs.
  var expression: String {
    terms.map { term in
      var tokens: [UInt8] = []
      guard term.isRun, term.scalars.count > 1 else {
        SearchTokenizer.append(term.scalars[...], to: &tokens)
        return "\"\(String(decoding: tokens.dropLast(), as: UTF8.self))\"*"
      }
      for index in term.scalars.indices.dropLast() {
        SearchTokenizer.append(term.scalars[index...].prefix(2), to: &tokens)
      }
      return "\"\(String(decoding: tokens.dropLast(), as: UTF8.self))\""
    }.joined(separator: " ")
  }

  /// Whether a word of a text is one that was searched for.
  func matches(_ word: SearchTokenizer.Word) -> Bool { terms.contains { offset(of: $0, in: word) != nil } }

  /// Returns the position of a term in a word; nil when it is not there.
  func offset(of term: Term, in word: SearchTokenizer.Word) -> Int? {
    guard term.isRun == word.isRun, term.scalars.count <= word.scalars.count else { return nil }
    guard term.isRun else { return word.scalars.starts(with: term.scalars) ? 0 : nil }
    let last = word.scalars.endIndex - term.scalars.count
    return (word.scalars.startIndex...last).first { word.scalars[$0...].starts(with: term.scalars) }
      .map { $0 - word.scalars.startIndex }
  }
}
