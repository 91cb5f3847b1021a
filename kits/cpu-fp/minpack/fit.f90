! Fits a sum of bell curves on a slope to noisy points with MINPACK's lmder, for one spectrum after another.
!
! Usage: fit INPUT OUTPUT      INPUT: SPECTRA POINTS CURVES SEED
!
! Writes for each spectrum how it ended, the norm of what is left, and the heights and widths found.
module spectrum
  implicit none
  integer, parameter :: dp = kind(1.0d0), i8 = selected_int_kind(18)
  integer(i8) :: state
  integer :: points, curves
  real(dp), allocatable :: at(:), value(:)
contains
  ! Lehmer's generator with the parameters of Park and Miller, to (0, 1).
  real(dp) function draw()
    state = mod(state * 48271_i8, 2147483647_i8)
    draw = real(state, dp) / 2147483647.0_dp
  end function

  ! Height, middle and width of each curve; then the slope's two numbers.
  subroutine residuals(m, n, x, fvec, fjac, ldfjac, iflag)
    integer :: m, n, ldfjac, iflag
    real(dp) :: x(n), fvec(m), fjac(ldfjac, n)
    real(dp) :: z, e
    integer :: i, k
    if (iflag == 1) then
      do i = 1, m
        fvec(i) = x(n - 1) + x(n) * at(i) - value(i)
      end do
      do k = 1, curves
        do i = 1, m
          z = (at(i) - x(3*k - 1)) / x(3*k)
          fvec(i) = fvec(i) + x(3*k - 2) * exp(-z * z)
        end do
      end do
    else
      do k = 1, curves
        do i = 1, m
          z = (at(i) - x(3*k - 1)) / x(3*k)
          e = exp(-z * z)
          fjac(i, 3*k - 2) = e
          fjac(i, 3*k - 1) = x(3*k - 2) * e * 2.0_dp * z / x(3*k)
          fjac(i, 3*k) = x(3*k - 2) * e * 2.0_dp * z * z / x(3*k)
        end do
      end do
      fjac(1:m, n - 1) = 1.0_dp
      fjac(1:m, n) = at(1:m)
    end if
  end subroutine
end module

program fit
  use spectrum
  implicit none
  character(len=4096) :: input, output
  integer :: spectra, s, i, k, n, info, nfev, njev
  integer, allocatable :: ipvt(:)
  real(dp), allocatable :: x(:), truth(:), fvec(:), fjac(:, :), diag(:), qtf(:), w1(:), w2(:), w3(:), w4(:)
  real(dp), external :: enorm
  external :: lmder
  call get_command_argument(1, input)
  call get_command_argument(2, output)
  open (unit=10, file=trim(input), status='old', action='read')
  read (10, *) spectra, points, curves, state
  close (10)
  state = mod(state, 2147483646_i8) + 1
  n = 3 * curves + 2
  allocate (at(points), value(points), x(n), truth(n), fvec(points), fjac(points, n), diag(n), qtf(n))
  allocate (w1(n), w2(n), w3(n), w4(points), ipvt(n))
  open (unit=11, file=trim(output), status='replace', action='write')
  do s = 1, spectra
    do k = 1, curves
      truth(3*k - 2) = 1.0_dp + 2.0_dp * draw()
      truth(3*k - 1) = (k - 0.5_dp + 0.2_dp * (draw() - 0.5_dp)) / curves
      truth(3*k) = (0.25_dp + 0.1_dp * draw()) / curves
    end do
    truth(n - 1) = draw()
    truth(n) = draw()
    do i = 1, points
      at(i) = (i - 0.5_dp) / points
      value(i) = truth(n - 1) + truth(n) * at(i) + 0.02_dp * (draw() - 0.5_dp)
      do k = 1, curves
        value(i) = value(i) + truth(3*k - 2) * exp(-((at(i) - truth(3*k - 1)) / truth(3*k))**2)
      end do
    end do
    do k = 1, curves
      x(3*k - 2) = 2.0_dp
      x(3*k - 1) = (k - 0.5_dp) / curves
      x(3*k) = 0.3_dp / curves
    end do
    x(n - 1) = 0.0_dp
    x(n) = 0.0_dp
    call lmder(residuals, points, n, x, fvec, fjac, points, 1.0e-12_dp, 1.0e-12_dp, 0.0_dp, 200, diag, 1, &
               100.0_dp, 0, info, nfev, njev, ipvt, qtf, w1, w2, w3, w4)
    ! 1 to 3: converged by one test or both.
    if (info >= 1 .and. info <= 3) info = 1
    write (11, '(a,i0,a,i0,a,es16.8)') 'spectrum ', s, ' ended ', info, ' left ', enorm(points, fvec)
    write (11, '(5es16.8)') (x(3*k - 2), k=1, curves), (x(3*k), k=1, curves)
  end do
  close (11)
end program
