import Testing

import SatchelPhotos

@Suite("Reading a shard accepts other encodings") struct FormatForgivenessTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var file: String
    /// The exported bytes.
    var written: String
    var testDescription: String { name }

    init(_ name: String, _ file: String, _ written: String) {
      self.name = name
      self.file = file
      self.written = written
    }
  }

  static let a = FormatFixture.md5(1)
  static let b = FormatFixture.md5(2)
  static let header = "md5,filename,size,photodate,modified,width,height,applePhotoID"

  static let cases = [
    Case("nothing", "", ""),
    Case("a final newline", "\(a),a,1,2,3,4,5,\n", "\(a),a,1,2,3,4,5,"),
    Case("CRLF", "\(a),a,1,2,3,4,5,\r\n\(b),b,1,2,3,,,x\r\n", "\(a),a,1,2,3,4,5,\n\(b),b,1,2,3,,,x"),
    Case("several carriage returns", "\(a),a,1,2,3,4,5,x\r\r\r\n", "\(a),a,1,2,3,4,5,x"),
    Case("a carriage return at the end", "\(a),a,1,2,3,4,5,\r", "\(a),a,1,2,3,4,5,"),
    Case(
      "empty lines", "\n\r\n\(a),a,1,2,3,4,5,\n\n\n\(b),b,1,2,3,,,\n\n", "\(a),a,1,2,3,4,5,\n\(b),b,1,2,3,,,"),
    Case("a byte-order mark", "\u{FEFF}\(a),a,1,2,3,4,5,", "\(a),a,1,2,3,4,5,"),
    Case(
      "files that were put together", "\u{FEFF}\(b),b,1,2,3,,,\n\u{FEFF}\(header)\n\(a),a,1,2,3,4,5,",
      "\(a),a,1,2,3,4,5,\n\(b),b,1,2,3,,,"),
    Case("a header", "\(header)\n\(a),a,1,2,3,4,5,", "\(a),a,1,2,3,4,5,"),
    Case("nothing but a header", header, ""),
    Case("a header of format 5", "MD5,Filename,Size,Photodate,Modified,Width,Height\r\n", ""),
    Case("a quoted header", "\"md5\",\"filename\",size,photo_date,modified,width,height,apple id\n", ""),
    Case("upper case", "\(a.uppercased()),a,1,2,3,4,5,", "\(a),a,1,2,3,4,5,"),
    Case("mixed case", "0A\(a.dropFirst(2)),a,1,2,3,4,5,", "\(a),a,1,2,3,4,5,"),
    Case("seven columns", "\(a),a,1,2,3,4,5", "\(a),a,1,2,3,4,5,"),
    Case("seven columns, sizes unknown", "\(a),a,1,2,3,,", "\(a),a,1,2,3,,,"),
    Case("fractions", "\(a),a,1,1.9,-1.5,4,5,", "\(a),a,1,1,-2,4,5,"),
    Case("fractions of nothing", "\(a),a,1,-0.0,-7.000,4,5,", "\(a),a,1,0,-7,4,5,"),
    Case("fractions below nothing", "\(a),a,1,-0.001,0.999,4,5,", "\(a),a,1,-1,0,4,5,"),
    Case("leading zeros", "\(a),a,007,-0,000,04,5,", "\(a),a,7,0,0,4,5,"),
    Case("needless quotes", "\"\(a)\",\"a\",\"1\",\"2\",\"3\",\"\",\"5\",\"\"", "\(a),a,1,2,3,,5,"),
    Case("another order", "\(b),b,1,2,3,,,\n\(a),a,1,2,3,,,", "\(a),a,1,2,3,,,\n\(b),b,1,2,3,,,"),
    Case(
      "the widest numbers", "\(a),a,\(Int64.max),\(Int64.min),\(Int64.max),,,",
      "\(a),a,\(Int64.max),\(Int64.min),\(Int64.max),,,"),
    Case(
      "the lowest number by a fraction", "\(a),a,1,-9223372036854775807.5,9223372036854775807.9,,,",
      "\(a),a,1,\(Int64.min),\(Int64.max),,,"),
    Case("an empty filename", "\(a),,1,2,3,,,", "\(a),,1,2,3,,,"),
    Case(
      "a filename of quotes and lines", "\(a),\"\"\"\r\n\"\"\",1,2,3,,,", "\(a),\"\"\"\r\n\"\"\",1,2,3,,,"),
    Case("quotes in an identifier", "\(a),a,1,2,3,,,\"x,\ny\"", "\(a),a,1,2,3,,,\"x,\ny\""),
    Case(
      "a row inside a filename", "\(a),\"x\n\(b),b,1,2,3,,,\n\",1,2,3,,,",
      "\(a),\"x\n\(b),b,1,2,3,,,\n\",1,2,3,,,"),
    Case("control characters", "\(a),a\0\tb,1,2,3,,,", "\(a),a\0\tb,1,2,3,,,"),
  ]

  @Test("without rejected lines", arguments: cases) func forgives(_ example: Case) throws {
    let outcome = try FormatFixture.open(example.file)
    #expect(outcome.rejected.isEmpty)
    #expect(outcome.text == example.written)
    #expect(outcome.isWritten == (example.file == example.written))
    let again = try FormatFixture.open(outcome.written)
    #expect(again.isWritten)
    #expect(again.photos == outcome.photos)
  }

  @Test("Columns are parsed by their types") func columns() throws {
    let outcome = try FormatFixture.open("\(Self.a.uppercased()),\"x \"\"y\"\"\",1,2.5,-3,,5,id")
    let photo = try #require(outcome.photos.first)
    #expect(photo.md5.description == Self.a)
    #expect(photo.filename == "x \"y\"")
    #expect(photo.size == 1)
    #expect(photo.photodate == 2)
    #expect(photo.modified == -3)
    #expect(photo.width == nil)
    #expect(photo.height == 5)
    #expect(photo.applePhotoID == "id")
  }

  @Test("A line of megabytes") func longLine() throws {
    let name = String(repeating: "long, ", count: 500_000)
    let outcome = try FormatFixture.open("\(Self.a),\"\(name)\",1,2,3,,,\n\(Self.b),b,1,2,3,,,")
    #expect(outcome.photos.map(\.filename.utf8.count) == [3_000_000, 1])
  }
}
