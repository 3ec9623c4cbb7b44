import SatchelCore
import SatchelJSON
import SatchelStorage

/// A value that is computed from the one at a path: "first(tags)", "length(tags)", "lower(title)", "month(added)".
///
/// A member of such a name is reached by a JSON Pointer.
struct ComputedPath: Equatable, Sendable {
  enum Function: String, CaseIterable {
    /// The first element of an array.
    case first
    /// The number of elements of an array, of members of an object, and of code points of a string.
    case length
    /// A string in lower case.
    case lower
    /// The parts of a time in any form of ISO 8601, in UTC: "2027", "2027-03", "2027-03-05".
    case year, month, day
  }

  let function: Function
  let path: DocumentPath
  var type: RecordType?

  var text: String { "\(function.rawValue)(\(path.text))" }

  static func == (left: ComputedPath, right: ComputedPath) -> Bool {
    left.function == right.function && left.path == right.path
  }

  /// - Returns: nil for another path
  /// - Throws: `.invalid` for an invalid path in the parentheses
  init?(_ text: String) throws {
    guard text.utf8.last == UInt8(ascii: ")"), let open = text.firstIndex(of: "("),
      let function = Function(rawValue: String(text[..<open]))
    else { return nil }
    self.function = function
    path = try DocumentPath(String(text[text.index(after: open)...].dropLast()))
  }

  func value(in document: DocumentReader) -> FieldValue {
    guard let location = document.find(path) else { return .missing }
    switch (function, location.kind) {
    case (.first, .array):
      var first: DocumentReader.Location?
      document.elements(of: location) { if first == nil { first = $0 } }
      return first.map { typed($0, document) } ?? .missing
    case (.length, .array):
      var count: Int64 = 0
      document.elements(of: location) { _ in count += 1 }
      return .int(count)
    case (.length, .object): return .int(document.memberCount(of: location))
    case (.length, .string):
      let bytes = document.text(location).utf8
      // Every code point has one byte that continues no other.
      return .int(bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) })
    case (.lower, .string): return .ownedString(Array(document.text(location).lowercased().utf8))
    case (.lower, _): return document.field(location)
    case (.year, .string): return date(document.text(location), 4)
    case (.month, .string): return date(document.text(location), 7)
    case (.day, .string): return date(document.text(location), 10)
    default: return .missing
    }
  }

  /// Returns the first characters of the date of a time in UTC.
  private func date(_ text: String, _ count: Int) -> FieldValue {
    guard text.utf8.count <= RecordType.longestTime, let time = ISODateTime(anyForm: text),
      ISODateTime.years.contains(time.seconds)
    else { return .missing }
    return .ownedString(Array(ISODateTime.text(seconds: time.seconds).utf8.prefix(count)))
  }

  private func typed(_ location: DocumentReader.Location, _ document: DocumentReader) -> FieldValue {
    let field = document.field(location)
    return type?.value(field, in: document, at: location) ?? field
  }
}

/// The values of the elements of an array: "tags[*]", "lines[*].sku", "orders[*].lines[*].sku".
///
/// A member of such a name is reached by a JSON Pointer.
struct ElementPath: Equatable, Sendable {
  let text: String
  /// The arrays, each in an element of the one before.
  let arrays: [DocumentPath]
  /// The path in an element of the last array; nil for the element itself.
  let last: DocumentPath?
  var type: RecordType?

  static func == (left: ElementPath, right: ElementPath) -> Bool {
    left.arrays == right.arrays && left.last == right.last
  }

  /// - Returns: nil for another path
  /// - Throws: `.invalid` for an invalid path before, between or after the arrays
  init?(_ text: String) throws {
    guard text.utf8.first != UInt8(ascii: "/"), let parts = Self.parts(text) else { return nil }
    self.text = text
    arrays = try parts.dropLast().map { try DocumentPath($0) }
    last = try parts.last.flatMap { $0.isEmpty ? nil : try DocumentPath($0) }
  }

  /// Returns the paths between the "[*]"; nil for a path without one, or with one that is not between members.
  private static func parts(_ text: String) -> [String]? {
    var parts: [String] = []
    var rest = text.utf8[...]
    let mark = Array("[*]".utf8)
    while let start = rest.indices.first(where: { rest[$0...].starts(with: mark) }) {
      parts.append(String(rest[..<start]) ?? "")
      rest = rest[start...].dropFirst(mark.count)
      guard rest.isEmpty || rest.first == UInt8(ascii: ".") else { return nil }
      rest = rest.dropFirst()
    }
    guard !parts.isEmpty else { return nil }
    return parts + [String(rest) ?? ""]
  }

  /// Visits the values of the elements that have one.
  func each(in document: DocumentReader, _ visit: (FieldValue) throws -> Void) rethrows {
    try each(arrays[...], document, from: 0, visit)
  }

  private func each(
    _ arrays: ArraySlice<DocumentPath>, _ document: DocumentReader, from start: Int,
    _ visit: (FieldValue) throws -> Void
  ) rethrows {
    guard let path = arrays.first, let array = document.find(path, from: start), array.kind == .array else {
      return
    }
    try document.elements(of: array) { element in
      if arrays.count == 1, last == nil { return try visit(typed(element, document)) }
      guard element.kind == .object else { return }
      if arrays.count > 1 { return try each(arrays.dropFirst(), document, from: element.start, visit) }
      if let last, let found = document.find(last, from: element.start) {
        try visit(typed(found, document))
      }
    }
  }

  private func typed(_ location: DocumentReader.Location, _ document: DocumentReader) -> FieldValue {
    let field = document.field(location)
    return type?.value(field, in: document, at: location) ?? field
  }
}
