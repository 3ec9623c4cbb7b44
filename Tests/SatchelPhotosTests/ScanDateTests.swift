import Testing

@testable import SatchelPhotos

@Suite("Dates of photos")
struct ScanDateTests {
  /// 4 March 2012, 5:06:07 at +01:00.
  private static let seconds: Int64 = 1_330_833_967

  @Test(
    "Zones as cameras and tools write them",
    arguments: [
      ("+01:00", 3600), ("+1:00", 3600), ("+0100", 3600), ("+01", 3600), ("-08:00", -28_800), ("Z", 0),
      ("+05:45", 20_700), ("   :  ", nil), ("", nil), ("+99:00", nil), ("+01:00 ", 3600), ("CET", nil),
    ] as [(String, Int64?)])
  func zones(text: String, offset: Int64?) {
    // Of a tag the blanks around the text are trimmed.
    let date = ImageDate("2012:03:04 05:06:07", offset: ImageFacts.trimmed(Array(text.utf8)) ?? "")
    #expect(date?.seconds(zone: PhotoTimeZone(offset: 7200)) == 1_330_837_567 - (offset ?? 7200))
    #expect(date?.localOffset(zone: PhotoTimeZone(offset: 7200)) == offset ?? 7200)
  }

  @Test("The offset of the local time is kept; a time in UTC has none")
  func localTime() throws {
    var exif = ScanExif()
    exif.add(0x9003, .text("2024:01:01 08:00:00\0"))
    exif.add(0x9011, .text("+09:00\0"))
    let tokyo = try ScanFixture.facts(exif)
    #expect(tokyo.date == 1_704_063_600 && tokyo.utcOffset == 32_400)
    var gps = ScanExif()
    gps.add(0x1D, .text("2024:05:06\0"))
    gps.add(7, .rational([(7, 1), (8, 1), (95, 10)]))
    let satellites = try ScanFixture.facts(gps, zone: 3600)
    #expect(satellites.date == 1_714_979_289 && satellites.dateSource == .gps && satellites.utcOffset == nil)
  }

  @Test(
    "XMP as attributes and elements, with other prefixes, and the date that says most",
    arguments: [
      "<rdf:Description xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' photoshop:DateCreated='DATE'/>",
      "<rdf:Description xmlns:e='http://ns.adobe.com/exif/1.0/'><e:DateTimeOriginal>DATE</e:DateTimeOriginal></rdf:Description>",
      "<rdf:Description xmlns:xap='http://ns.adobe.com/xap/1.0/'><xap:CreateDate> DATE </xap:CreateDate></rdf:Description>",
      """
      <rdf:Description xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmlns:exif='http://ns.adobe.com/exif/1.0/'
       xmp:CreateDate='2020-01-01' exif:DateTimeOriginal='DATE'/>
      """,
    ])
  func xmp(properties: String) throws {
    let text = properties.replacing("DATE", with: "2012-03-04T05:06:07+01:00")
    let packet = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + ImageFiles.xmp(text)
    let facts = ScanFixture.facts(try ScanFixture.jpeg(ScanExif.segment(0xE1, packet)))
    #expect(facts.date == Self.seconds && facts.dateSource == .xmp && facts.utcOffset == 3600)
    #expect(facts.width == 48 && facts.remark == nil)
  }

  @Test("XMP that is no XML, or defines entities, is passed over")
  func badXMP() throws {
    let entities =
      "<!DOCTYPE a [<!ENTITY b 'c'>]><a xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmp:CreateDate='2012-03-04'/>"
    for text in [entities, "<x:xmpmeta", "", "\0\0\0", String(repeating: "<a>", count: 10_000)] {
      let packet = Array(("http://ns.adobe.com/xap/1.0/\0" + text).utf8)
      let facts = ScanFixture.facts(try ScanFixture.jpeg(ScanExif.segment(0xE1, packet)))
      #expect(facts.date == nil && facts.width == 48)
    }
  }

  @Test("The position and the camera of XMP, where EXIF has none")
  func xmpPosition() throws {
    let properties = """
      <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
       exif:GPSLatitude="33,51,30S" exif:GPSLongitude="151,12.5E" tiff:Make="Zenit" tiff:Orientation="8"/>
      """
    let packet = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + ImageFiles.xmp(properties)
    let facts = ScanFixture.facts(try ScanFixture.jpeg(ScanExif.segment(0xE1, packet)))
    #expect(abs((facts.latitude ?? 0) + 33.858333) < 1e-6 && abs((facts.longitude ?? 0) - 151.208333) < 1e-6)
    #expect(facts.cameraMake == "Zenit" && facts.orientation == 8)
  }

  @Test(
    "IPTC's date, with its time and without",
    arguments: [
      ([(55, "20120304"), (60, "050607+0100")], 1_330_833_967), ([(55, "20120304")], 1_330_819_200),
      ([(62, "20120304"), (63, "050607")], 1_330_837_567), ([(55, "00000000")], nil), ([(55, "2012")], nil),
    ] as [([(Int, String)], Int64?)])
  func iptc(fields: [(Int, String)], seconds: Int64?) throws {
    let segment = ImageFiles.iptc(fields.map { (number: $0.0, text: $0.1) })
    let facts = ScanFixture.facts(try ScanFixture.jpeg(segment))
    #expect(facts.date == seconds && facts.dateSource == (seconds == nil ? nil : .iptc))
  }

  @Test("EXIF's own dates are better than XMP, which is better than the time of writing")
  func precedence() throws {
    let packet = ScanExif.segment(
      0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + ImageFiles.datedXMP("2012-03-04T05:06:07+01:00"))
    var written = ScanExif()
    written.add(0x0132, .text("2003:03:03 03:03:03\0"))
    #expect(ScanFixture.facts(try ScanFixture.jpeg(written.segment + packet)).dateSource == .xmp)
    #expect(
      ScanFixture.facts(try ScanFixture.jpeg(ScanExif.usual().segment + packet)).dateSource == .original)
  }

  @Test(
    "Dates in names",
    arguments: [
      ("IMG_20190721_230638.jpg", 1_563_750_398), ("PXL_20210612_101112345.jpg", 1_623_492_672),
      ("2014-09-28 15.32.16.jpg", 1_411_918_336), ("Screenshot 2014-09-28 at 15.32.16.png", 1_411_918_336),
      ("20140928153216.jpg", 1_411_918_336), ("2014-09-28_15-32-16-1.jpg", 1_411_918_336),
      ("IMG-20190721-WA0001.jpg", 1_563_667_200), ("1954-07-01.tif", -489_283_200),
      ("IMG_20190721_993638.jpg", 1_563_667_200), ("IMG_20191331_230638.jpg", nil), ("DSC_0001.jpg", nil),
      ("12019072123.jpg", nil), ("201907212.jpg", nil), ("1234-5678.jpg", nil), ("2019.jpg", nil), ("", nil),
    ] as [(String, Int64?)])
  func names(name: String, seconds: Int64?) {
    #expect(ImageDate(fileName: name)?.seconds(zone: .utc) == seconds)
  }

  @Test("A sidecar, Takeout's file, the name, and what embeddedDatesOnly leaves of them")
  func outside() throws {
    let fixture = try ScanFixture()
    func source(_ name: String, _ options: ScanOptions = ScanOptions()) throws -> PhotoDateSource? {
      let root = try PhotoRoot(fixture.path)
      let found = try fixture.walk()
      let entry = try #require(found.entries.first { $0.name == name })
      var reader = PhotoFileReader(found.tree, in: root, options: options)
      return try #require(try reader.read(entry) { _ in true }).facts.dateSource
    }
    let takeout =
      #"{"photoTakenTime": {"timestamp": "1400000000"}, "geoData": {"latitude": 1.5, "longitude": 2}}"#
    let name = "20190721.jpg"
    try fixture.put(name, ScanFixture.jpeg())
    #expect(try source(name) == .name)
    try fixture.put(name + ".supplemental-metadata.json", Array(takeout.utf8))
    #expect(try source(name) == .takeout)
    try fixture.put("20190721.xmp", ImageFiles.datedXMP("2012-03-04T05:06:07+01:00"))
    #expect(try source(name) == .sidecar)
    #expect(try source(name, ScanOptions(embeddedDatesOnly: true)) == nil)
    // Of a file that has a date nothing else is looked for.
    try fixture.put(name, ScanFixture.jpeg(ScanExif.usual().segment))
    #expect(try source(name) == .original)
    // The second file of a name, and an edited one.
    try fixture.put("b(1).jpg", ScanFixture.jpeg(tail: "1"))
    try fixture.put("b.jpg(1).json", Array(takeout.utf8))
    try fixture.put("c-edited.jpg", ScanFixture.jpeg(tail: "2"))
    try fixture.put("c.jpg.json", Array(takeout.utf8))
    try fixture.put("d.jpg", ScanFixture.jpeg(tail: "3"))
    try fixture.put(
      "d.jpg.json", Array(#"{"photoTakenTime": [{}], "deep": \#(String(repeating: "[", count: 5000))"#.utf8))
    #expect(
      try source("b(1).jpg") == .takeout && source("c-edited.jpg") == .takeout && source("d.jpg") == nil)
  }

  @Test("A scan counts what was read by format")
  func formats() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", ScanFixture.jpeg(ScanExif.usual().segment))
    try fixture.put("b.mpo", ScanFixture.jpeg())
    try fixture.put("c.heic", ImageFiles.HEIF().file())
    try fixture.put("d.X3F", Array("FOVb and more".utf8))
    let report = try fixture.catalogue().scan()
    var jpeg = ScanReport.FormatCount()
    (jpeg.files, jpeg.dated, jpeg.sized) = (2, 1, 2)
    #expect(report.formats["jpeg"] == jpeg && report.formats["heic"]?.sized == 1)
    #expect(
      report.formats["x3f"]?.files == 1 && report.formats["x3f"]?.sized == 0 && report.formats.count == 3)
    #expect(report.dateSources == [.original: 1, .file: 3] && report.missingLibraries.isEmpty)
  }
}
