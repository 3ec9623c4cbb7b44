import CImages
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Pictures that are odd")
struct ScanPictureTests {
  @Test("Sizes of pictures", arguments: ["baseline.jpg", "progressive.jpg", "cmyk.jpg", "small.png"])
  func sizes(name: String) throws {
    let facts = ScanFixture.facts(try ScanFixture.picture(name), name: name)
    #expect(facts.width == 48 && facts.height == 32)
    #expect(facts.remark == nil)
  }

  @Test("A picture counts for what it is, not for what it is called")
  func renamed() throws {
    let png = ScanFixture.facts(try ScanFixture.picture("small.png"), name: "a.jpg")
    #expect(png.width == 48 && png.remark == nil)
    let page = ScanFixture.facts(Array("<!DOCTYPE html><title>404</title>".utf8), name: "a.jpg")
    #expect(page.width == nil && page.remark == "does not begin like a picture")
    let other = ScanFixture.facts(Array("whatever a HEIC may be".utf8), name: "a.heic")
    #expect(other.width == nil && other.remark == nil)
  }

  @Test("A picture that is cut anywhere is told, and what stands before the cut is used")
  func cut() throws {
    let whole = try ScanFixture.jpeg(ScanExif.usual().segment)
    for length in 1..<whole.count {
      let facts = ScanFixture.facts(Array(whole.prefix(length)))
      if facts.width == nil { #expect(facts.remark != nil, "\(length)") } else { #expect(facts.width == 48) }
    }
    let png = try ScanFixture.picture("small.png")
    for length in 8..<33 {
      let facts = ScanFixture.facts(Array(png.prefix(length)), name: "a.png")
      #expect(facts.width == nil && facts.remark != nil, "\(length)")
    }
  }

  @Test("EXIF behind other segments is found, XMP among them")
  func behind() throws {
    let xmp = ScanExif.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>".utf8))
    let filled = ScanExif.segment(0xE2, [UInt8](repeating: 0xFF, count: 65_000))
    let segments = xmp + filled + filled + [0xFF, 0xFF] + ScanExif.usual().segment
    let facts = ScanFixture.facts(try ScanFixture.jpeg(segments))
    #expect(facts.cameraMake == "Zenit" && facts.width == 48 && facts.remark == nil)
  }

  @Test("EXIF of a TIFF is read")
  func tiff() {
    let facts = ScanFixture.facts(
      ScanExif.usual().tiff + [UInt8](repeating: 1, count: 200_000), name: "a.dng")
    #expect(facts.cameraMake == "Zenit" && facts.date == 1_626_287_405 && facts.latitude != nil)
    #expect(facts.width == nil && facts.remark == nil)
  }

  @Test("Damaged EXIF is told; the size is read all the same")
  func damaged() throws {
    var huge = ScanExif.usual()
    huge.main[0].claimedCount = .max
    var far = ScanExif.usual()
    far.main[0].claimedOffset = 0xFFFF_FFF0
    var cut = ScanExif.usual().segment
    cut = Array(cut.prefix(80))
    cut[3] = UInt8(cut.count - 2)
    cut[2] = 0
    let wrongOrder = Array("Exif\0\0XX".utf8) + ScanExif.usual().tiff.dropFirst(2)
    let empty = Array("Exif\0\0".utf8)
    let segments = [
      huge.segment, far.segment, cut, ScanExif.segment(0xE1, wrongOrder), ScanExif.segment(0xE1, empty),
    ]
    for (number, segment) in segments.enumerated() {
      let facts = ScanFixture.facts(try ScanFixture.jpeg(segment))
      #expect(facts.width == 48, "\(number)")
      #expect(facts.remark == "its EXIF is damaged", "\(number)")
    }
  }

  @Test("Directories that lead to themselves come to an end", .timeLimit(.minutes(20)))
  func loops() throws {
    var exif = ScanExif.usual()
    exif.next = 8
    #expect(try ScanFixture.facts(exif).width == 48)
    exif = .usual()
    // The directory of the photo is the main one, which leads there again, many times over.
    exif.main += (0..<500).map { _ in ScanExif.Tag(number: 0x8769, value: .long([8])) }
    #expect(try ScanFixture.facts(exif).width == 48)
  }

  @Test("Whatever bytes change, nothing breaks, and every value keeps to its range", .timeLimit(.minutes(20)))
  func mutations() throws {
    var random = SeededRandom(seed: 20_210_714)
    var big = ScanExif.usual()
    big.isBigEndian = true
    let sources = [
      try ScanFixture.jpeg(ScanExif.usual().segment), try ScanFixture.jpeg(big.segment), big.tiff,
      try ScanFixture.picture("small.png"), try ScanFixture.picture("progressive.jpg"),
    ]
    for round in 0..<10_000 {
      var bytes = sources[round % 10 < 7 ? round % 2 : 2 + round % 3]
      for _ in 0...random.below(4) {
        let place = random.below(min(bytes.count, 500))
        switch random.below(4) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes[place] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
        case 2: bytes[place] ^= 1 << UInt8(random.below(8))
        default: bytes.removeSubrange(place..<min(bytes.count, place + random.below(9)))
        }
        if bytes.isEmpty { bytes = [0xFF] }
      }
      let facts = ScanFixture.facts(bytes)
      #expect((facts.latitude == nil) == (facts.longitude == nil))
      #expect((-90...90).contains(facts.latitude ?? 0) && (-180...180).contains(facts.longitude ?? 0))
      #expect((1...8).contains(facts.orientation ?? 1) && (facts.iso ?? 1) > 0)
      for number in [facts.aperture, facts.shutterSpeed, facts.focalLength] {
        #expect(number ?? 1 > 0 && (number ?? 1).isFinite)
      }
      #expect((facts.width ?? 1) > 0 && (facts.height ?? 1) > 0)
      #expect((facts.cameraMake ?? "").utf8.count <= 3 * 255)
    }
  }

  @Test("Without the libraries nothing is known, which is told, and nothing breaks")
  func withoutLibraries() throws {
    let none = ImageLibraries(satchel_images_open("/nowhere/exif", "/nowhere/jpeg", "/nowhere/png"))
    #expect(none.missing.count == 3)
    #expect(ImageLibraries.shared.missing.isEmpty)
    // A library of that name which is another one.
    let wrong = ImageLibraries(satchel_images_open("libpng16.so.16", "libexif.so.12", nil))
    #expect(!wrong.hasExif && !wrong.hasJPEG && wrong.hasPNG)
    for libraries in [none, ImageLibraries(nil)] {
      let bytes = try ScanFixture.jpeg(ScanExif.usual().segment)
      let facts = bytes.withUnsafeBytes { ImageFacts(head: $0, name: "a.jpg", zone: 0, libraries: libraries) }
      #expect(facts == ImageFacts())
    }
  }

  @Test("Whatever is lent, nothing is read outside of it")
  func bounds() {
    let images = satchel_images_shared()
    var exif = satchel_exif()
    var (width, height): (Int64, Int64) = (0, 0)
    satchel_images_exif(images, nil, 100, &exif)
    #expect(!exif.is_present)
    #expect(!satchel_images_jpeg_size(images, nil, 100, &width, &height))
    #expect(!satchel_images_png_size(images, nil, 100, &width, &height))
    var room: [UInt8] = [1, 2]
    exif.lengths.0 = 200
    #expect(satchel_exif_copy(&exif, SATCHEL_EXIF_DATE_ORIGINAL, &room, 2) == 2)
    #expect(satchel_exif_copy(&exif, SATCHEL_EXIF_TEXTS, &room, 2) == 0)
  }
}
