! Dense linear algebra with LAPACK on random matrices: a solve, symmetric eigenvalues, singular values.
!
! Usage: dense INPUT OUTPUT      INPUT: SOLVE EIGEN SVD SEED, the orders of the three matrices
!
! Writes residuals as PASS or the number, scaled as LAPACK's own tests do (below 30 is right), and numbers of
! the results that hardly depend on rounding.
program dense
  implicit none
  integer, parameter :: dp = kind(1.0d0), i8 = selected_int_kind(18)
  integer(i8) :: state
  integer :: n1, n2, n3
  character(len=4096) :: input, output
  call get_command_argument(1, input)
  call get_command_argument(2, output)
  open (unit=10, file=trim(input), status='old', action='read')
  read (10, *) n1, n2, n3, state
  close (10)
  state = mod(state, 2147483646_i8) + 1
  open (unit=11, file=trim(output), status='replace', action='write')
  call solve(n1)
  call eigen(n2)
  call singular(n3)
  close (11)
contains
  ! Lehmer's generator with the parameters of Park and Miller, to (-0.5, 0.5).
  subroutine draw(a)
    real(dp), intent(out) :: a(:, :)
    integer :: i, j
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        state = mod(state * 48271_i8, 2147483647_i8)
        a(i, j) = real(state, dp) / 2147483647.0_dp - 0.5_dp
      end do
    end do
  end subroutine

  subroutine say(what, residual)
    character(len=*), intent(in) :: what
    real(dp), intent(in) :: residual
    if (residual < 30.0_dp) then
      write (11, '(a,a)') what, ' residual PASS'
    else
      write (11, '(a,a,es12.4)') what, ' residual', residual
    end if
  end subroutine

  subroutine solve(n)
    integer, intent(in) :: n
    real(dp), allocatable :: a(:, :), lu(:, :), x(:, :), b(:, :)
    integer, allocatable :: pivot(:)
    integer :: info
    allocate (a(n, n), lu(n, n), x(n, 1), b(n, 1), pivot(n))
    call draw(a)
    call draw(b)
    lu = a
    x = b
    call dgesv(n, 1, lu, n, pivot, x, n, info)
    write (11, '(a,i0)') 'solve info ', info
    call say('solve', maxval(abs(matmul(a, x) - b)) / (maxval(sum(abs(a), 2)) * maxval(abs(x)) * epsilon(1.0_dp)))
    write (11, '(a,es20.10)') 'solve norm', norm2(x(:, 1))
  end subroutine

  subroutine eigen(n)
    integer, intent(in) :: n
    real(dp), allocatable :: a(:, :), z(:, :), w(:), work(:), r(:, :)
    real(dp) :: best(1)
    integer :: info, lwork, i
    allocate (a(n, n), z(n, n), w(n), r(n, n))
    call draw(a)
    a = a + transpose(a)
    z = a
    call dsyev('V', 'U', n, z, n, w, best, -1, info)
    lwork = int(best(1))
    allocate (work(lwork))
    call dsyev('V', 'U', n, z, n, w, work, lwork, info)
    write (11, '(a,i0)') 'eigen info ', info
    call dgemm('N', 'N', n, n, n, 1.0_dp, a, n, z, n, 0.0_dp, r, n)
    do i = 1, n
      r(:, i) = r(:, i) - w(i) * z(:, i)
    end do
    call say('eigen', maxval(abs(r)) / (n * maxval(abs(w)) * epsilon(1.0_dp)))
    do i = 1, n, max(1, n / 8)
      write (11, '(a,i0,es20.10)') 'eigen value ', i, w(i)
    end do
  end subroutine

  subroutine singular(n)
    integer, intent(in) :: n
    real(dp), allocatable :: a(:, :), c(:, :), u(:, :), vt(:, :), s(:), work(:), r(:, :)
    real(dp) :: best(1)
    integer :: info, lwork, i
    allocate (a(n, n), c(n, n), u(n, n), vt(n, n), s(n), r(n, n))
    call draw(a)
    c = a
    call dgesvd('A', 'A', n, n, c, n, s, u, n, vt, n, best, -1, info)
    lwork = int(best(1))
    allocate (work(lwork))
    call dgesvd('A', 'A', n, n, c, n, s, u, n, vt, n, work, lwork, info)
    write (11, '(a,i0)') 'svd info ', info
    do i = 1, n
      u(:, i) = u(:, i) * s(i)
    end do
    r = a
    call dgemm('N', 'N', n, n, n, -1.0_dp, u, n, vt, n, 1.0_dp, r, n)
    call say('svd', maxval(abs(r)) / (n * s(1) * epsilon(1.0_dp)))
    do i = 1, n, max(1, n / 8)
      write (11, '(a,i0,es20.10)') 'svd value ', i, s(i)
    end do
  end subroutine
end program
